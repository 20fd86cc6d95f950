"""Output for people: tables, HTML, graphs and progress."""
