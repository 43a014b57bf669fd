"""The parts of the translation from core to AiNF, one file per family of constructs."""
