"""Programs under ThreadSanitizer."""
import os
import subprocess


def without_aslr():
    """A prefix for commands: ThreadSanitizer of these compilers does not know the layouts of kernels that randomise 32 bits."""
    command = ['setarch', os.uname().machine, '-R']
    try:
        return command if subprocess.run(command + ['true'], capture_output=True).returncode == 0 else []
    except FileNotFoundError:
        return []
