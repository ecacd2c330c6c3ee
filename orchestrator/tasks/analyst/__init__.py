"""The data analyst's questions, and how answers to them are graded."""
