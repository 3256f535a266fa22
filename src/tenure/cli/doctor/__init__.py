"""`tenure doctor`: checks of the installation."""
