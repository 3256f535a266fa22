document.body.append(await (await fetch("/api/guestbook")).text());
