"""HTTP manners shared by all providers; knows no provider."""
