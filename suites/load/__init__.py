"""Many operations at once through a subject: what the machine allows, what is run, and what it is judged by."""
