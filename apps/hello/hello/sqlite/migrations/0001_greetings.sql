-- serves: 1
-- How often each person was greeted.
CREATE TABLE hello_greetings (
    name VARCHAR(100) NOT NULL PRIMARY KEY,
    times INTEGER NOT NULL
);
