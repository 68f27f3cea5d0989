"""The peer is asked in a process of its own, or it is said why it cannot be."""

from __future__ import annotations

import pytest

from bench.peer import REQUIREMENT, Peer
from bench.rows import Skipped


def test_a_peer_that_may_not_be_installed_is_skipped(tmp_path):
    peer = Peer(tmp_path / "peer", may_install=False)

    with pytest.raises(Skipped, match="not installed"):
        peer.ask("compress")
    peer.close()
    assert not (tmp_path / "peer").exists()


def test_a_peer_that_cannot_be_had_is_skipped_with_pips_reason(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")  # as on a machine without an index
    peer = Peer(tmp_path / "peer", may_install=True)

    for _ in range(2):  # the second row does not try again
        with pytest.raises(Skipped, match=f"{REQUIREMENT} cannot be installed: "):
            peer.ask("compress")
        monkeypatch.setenv("PIP_NO_INDEX", "0")
        monkeypatch.setattr("bench.peer._run", _never)
    peer.close()


def _never(command: list[str]) -> None:
    raise AssertionError(f"{command} was tried again")
