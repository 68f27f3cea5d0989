"""Tests of the adapters, with the real libraries behind them."""
