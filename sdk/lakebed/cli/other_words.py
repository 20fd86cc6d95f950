"""Words of Git, DVC, lakectl, `hf`, the shell and plain English, and what has the same meaning in Lakebed.

The command reads this table when it does not know a word. A key may have several words: `branch rename` is a word of
the group `branch`, and `auth login` is two words that the command does not know.
"""

from __future__ import annotations

from collections.abc import Sequence

_FILES = "`lakebed fs upload FILE REPO/BRANCH/PATH` stages a file; in a directory of `lakebed local clone`, "
_ADD = _FILES + "`lakebed commit` takes every change."
_CLONE = "`lakebed local clone REPO/BRANCH [DIR]` fills a directory; most commands need no directory."
_KEYS = "`lakebed key create` makes an access key, and `lakebed key list` lists yours."
_GC = "`lakebed sweep`, on the server, deletes data that no commit names."
_HOOKS = "`lakebed hooks runs REPO` lists the runs of checks, and `lakebed hooks show` their results."
_PIPELINE = "Lakebed runs no pipelines: any scheduler can call `lakebed`. `lakebed hooks` checks data before a merge."
_EXPERIMENT = "Use a branch for each experiment: `lakebed branch create REPO/NAME`, `lakebed diff REPO/main NAME`."
_GRANT = "`lakebed grant USER LEVEL REPO` gives a user rights on a repository."
_REMOTE = "There are no remotes: the repository is on the server. `lakebed config show` prints the server in use."
_IMPORT = "`lakebed import start` adds objects from a bucket without a copy; `lakebed ingest commit` can repeat it."
_GET = "`lakebed download REPO/REF/PATH [DIR]` copies files; `lakebed fs download` copies one file."
_CACHE = "Lakebed keeps no copies of data on this machine, so there is no cache to manage."
_TAG = "`lakebed tag create REPO/TAG REF` names a commit."
_MOVE = "`lakebed fs cp` copies without moving data, and `lakebed fs rm` removes the old path."

_PAGE = "The server's address in a browser is the web page. `lakebed config show` prints it."
_RIGHTS = "See `lakebed grant`, `lakebed revoke` and `lakebed can`; `lakebed policy` has finer rights."
_CAT = "See `lakebed fs cat REPO/REF/PATH`."
_ARCHIVE = "`lakebed archive REPO/REF` writes the objects of a ref as one archive."
_CHECK = (
    "`lakebed doctor` checks the connection, `lakebed hooks` the data, and `lakebed fsck` the files of a repository."
)
_COMPACT = "See `lakebed spark compact` and `lakebed spark dedupe`."
_SIGN_IN = "See `lakebed login`, and `lakebed key create` for another access key."
_SQL = "`lakebed fs head REPO/REF/PATH` shows rows; DuckDB, Polars and Spark query tables by lakebed:// paths."

GIT = {
    "add": _ADD,
    "am": "`lakebed cherry-pick REPO/BRANCH COMMIT` applies one commit.",
    "amend": "Commits never change: `lakebed undo REPO/BRANCH` takes the last one back.",
    "annotate": "`lakebed blame REPO/REF/PATH` shows who wrote each file.",
    "apply": "`lakebed cherry-pick REPO/BRANCH COMMIT` applies one commit.",
    "bisect": "`lakebed log REPO/REF --oneline` lists the commits, and every command reads any of them: REPO/COMMIT.",
    "cat": "See `lakebed fs cat REPO/REF/PATH`.",
    "cat-file": "See `lakebed fs cat REPO/REF/PATH` for files, and `lakebed show REPO/REF` for commits.",
    "cherry": "`lakebed diff REPO/main dev` shows what dev has that main does not have.",
    "clean": "In a directory of `lakebed local clone`, `lakebed reset --clean` also removes added files.",
    "clone": _CLONE,
    "cp": "See `lakebed fs cp REPO/REF/PATH REPO/BRANCH/PATH`.",
    "describe": "See `lakebed show REPO/REF`, and `lakebed tag list REPO`.",
    "difftool": "See `lakebed diff REPO/REF REF`; with `--key` it compares rows.",
    "fetch": "Every command reads the server, so there is nothing to fetch. `lakebed local pull` updates a directory.",
    "gc": _GC,
    "get": "See `lakebed fs cat` and `lakebed fs download`.",
    "grep": "`lakebed fs find REPO/REF TEXT` searches the paths.",
    "help": "`lakebed VERB --help` explains one command.",
    "info": "See `lakebed repo show REPO`, `lakebed show REPO/REF` and `lakebed fs stat REPO/REF/PATH`.",
    "init": "`lakebed repo create REPO` creates a repository.",
    "ls": "See `lakebed fs ls REPO/REF`.",
    "ls-files": "See `lakebed fs ls -r REPO/REF`.",
    "ls-remote": "See `lakebed branch list REPO` and `lakebed tag list REPO`.",
    "ls-tree": "See `lakebed fs ls REPO/REF/PATH`.",
    "mv": _MOVE,
    "notes": "A commit has metadata: `lakebed commit --meta KEY=VALUE`. `lakebed pr comment` is for remarks.",
    "prune": _GC,
    "pull": "`lakebed local pull` updates a directory; `lakebed download` copies files.",
    "push": "`lakebed upload DIR REPO/BRANCH/PATH` uploads files; in a directory, `lakebed commit` sends its changes.",
    "put": "See `lakebed fs upload FILE REPO/BRANCH/PATH`.",
    "rebase": "Branches are merged: `lakebed merge REPO/SOURCE BRANCH`. A workspace moves to the new head when you "
    "commit it.",
    "reflog": "`lakebed events REPO` lists what happened to each branch.",
    "remote": _REMOTE,
    "restore": "`lakebed reset` drops what is not committed, also of one path; `lakebed revert` undoes a commit.",
    "rev-list": "See `lakebed log REPO/REF --oneline`.",
    "rev-parse": "See `lakebed show REPO/REF`.",
    "rm": "See `lakebed fs rm REPO/BRANCH/PATH`.",
    "shortlog": "See `lakebed log REPO/REF --author USER`.",
    "sparse-checkout": "`lakebed local clone REPO/BRANCH/FOLDER` fills a directory with one folder.",
    "submodule": "Repositories are independent. `lakebed ingest commit` shows objects of another place in a folder.",
    "version": "See `lakebed --version`; `lakebed doctor` also shows the API level of the server.",
    "whatchanged": "See `lakebed log REPO/REF/PATH`.",
    "worktree": _CLONE,
    "branch rename": "A branch cannot be renamed: `lakebed branch create REPO/NEW --source OLD` copies no data.",
    "branch switch": "See `lakebed switch BRANCH` in a directory of `lakebed local clone`.",
    "tag rename": "A tag cannot be renamed: `lakebed tag create` a new one, then `lakebed tag delete` the old one.",
    "repo clone": _CLONE,
    "repo rename": "A repository cannot be renamed. `lakebed repo create` makes another one.",
    "repo init": "`lakebed repo create REPO` creates a repository.",
    "bundle": "`lakebed repo dump REPO` writes the commits, branches and tags to the bucket of the repository.",
    "filter-branch": "Commits never change. `lakebed repo delete --purge` deletes a repository with its data.",
    "format-patch": "See `lakebed diff REPO/REF REF`, and `lakebed cherry-pick REPO/BRANCH COMMIT`.",
    "gui": _PAGE,
    "hash-object": "`lakebed fs stat REPO/REF/PATH` shows the checksum of an object.",
    "lfs": "Files of any size work as they are: see `lakebed upload`.",
    "maintenance": _GC,
    "mergetool": "`lakebed merge --strategy` says which side wins; without it, a conflict changes nothing.",
    "name-rev": "`lakebed log REPO --graph` shows branches and tags at their commits.",
    "range-diff": "See `lakebed diff REPO/REF REF`.",
    "repack": _GC,
    "request-pull": "See `lakebed pr create`.",
    "rerere": "`lakebed merge --strategy` says which side wins a conflict.",
    "show-ref": "See `lakebed branch list REPO` and `lakebed tag list REPO`.",
    "subtree": "`lakebed fs cp` copies an object without moving data.",
    "update-ref": "`lakebed branch create REPO/BRANCH --source REF` makes a branch at a commit.",
    "verify-commit": "`lakebed fsck`, on the server, checks the files of a repository.",
}

DVC = {
    "artifacts": _TAG,
    "cache": _CACHE,
    "check-ignore": "`lakebed ingest diff` and `lakebed ingest commit` take --include and --exclude.",
    "dag": _PIPELINE,
    "data": "`lakebed status` and `lakebed diff` show what has changed.",
    "destroy": "`lakebed repo delete REPO` deletes a repository; its objects stay.",
    "du": "See `lakebed fs ls -r REPO/REF`, and `lakebed repo show REPO`.",
    "exp": _EXPERIMENT,
    "experiments": _EXPERIMENT,
    "freeze": _TAG,
    "get-url": _IMPORT,
    "import-url": _IMPORT,
    "install": "`lakebed completion install` sets up completion. Lakebed needs no hooks of Git.",
    "list": "See `lakebed fs ls REPO/REF`, and `lakebed repo list`.",
    "list-url": "`lakebed ingest diff` lists what a bucket has that the repository does not have.",
    "ls-url": "`lakebed ingest diff` lists what a bucket has that the repository does not have.",
    "metrics": _EXPERIMENT,
    "move": _MOVE,
    "params": _EXPERIMENT,
    "plots": _EXPERIMENT,
    "queue": _PIPELINE,
    "remove": "See `lakebed fs rm REPO/BRANCH/PATH`.",
    "repro": _PIPELINE,
    "root": "`lakebed status`, in a directory of `lakebed local clone`, prints where it comes from.",
    "run": _PIPELINE,
    "stage": _ADD,
    "studio": _PAGE,
    "unfreeze": "`lakebed tag delete REPO/TAG` deletes a tag.",
    "unprotect": "Files of `lakebed local clone` are plain files: edit them.",
    "update": "`lakebed ingest commit` commits what has changed in a bucket.",
    "import-db": "Write the result of a query with the SDK: `write_parquet` of a branch. Lakebed reads no databases.",
    "purge": _GC,
}

LAKECTL = {
    "abuse": "Lakebed has no load generator; `lakebed doctor` checks the connection.",
    "actions": _HOOKS,
    "auth": "See `lakebed user`, `lakebed group`, `lakebed policy` and `lakebed key`.",
    "auth users": "See `lakebed user list`, `lakebed user create` and `lakebed grant`.",
    "auth users credentials": _KEYS,
    "auth groups": "See `lakebed group list`, `lakebed group create` and `lakebed group add`.",
    "auth policies": "See `lakebed policy list`, `lakebed policy create` and `lakebed policy attach`.",
    "bisect run": "See `lakebed log REPO/REF --oneline`.",
    "branch-protect": "`lakebed repo protect REPO PATTERN` protects branches.",
    "identity": "See `lakebed whoami`.",
    "metastore": "Lakebed has no metastore commands. `lakebed fs symlinks` writes lists for Hive.",
    "refs-dump": "See `lakebed repo dump REPO`.",
    "refs-restore": "See `lakebed repo restore`.",
    "setup": "`lakebed serve` sets up a new server automatically.",
    "superuser": "`lakebed keys reset-admin`, on the server, creates a new key for the admin.",
    "usage": "See `lakebed repo show REPO`.",
    "branch revert": "See `lakebed revert REPO/BRANCH COMMIT`.",
    "fs presign": "`lakebed fs address --sign` signs an upload; `lakebed fs stat` prints the address of an object.",
    "fs stage": "`lakebed fs address` and `lakebed fs link` show an object that another tool wrote.",
    "fs update-metadata": "`lakebed fs upload --meta KEY=VALUE` stores an object with metadata.",
    "import run": "See `lakebed import start`.",
    "local checkout": "See `lakebed switch REF` in the directory, or `lakebed local pull`.",
    "local init": _CLONE,
    "local list": "See `lakebed status` in the directory.",
    "local reset": "See `lakebed reset` in the directory.",
    "repo create-bare": "See `lakebed repo create --bare`.",
    "repo list-deleted": "See `lakebed repo list`.",
    "tag describe": "See `lakebed tag show REPO/TAG`.",
    "dbt": "dbt needs no commands of Lakebed: `lakebed branch create` before, and `lakebed merge` after it.",
    "docs": "See `lakebed --help`, and `lakebed VERB --help`.",
    "mount": "Lakebed mounts nothing: `lakebed local clone` fills a directory.",
}

HUGGING_FACE = {
    "auth login": "See `lakebed login`.",
    "auth logout": "See `lakebed logout`.",
    "auth list": "See `lakebed config show`.",
    "auth switch": "See `lakebed config show`, which prints the server and the key in use.",
    "auth token": "See `lakebed key token`.",
    "auth whoami": "See `lakebed whoami`.",
    "buckets": "`lakebed repo list` lists repositories; each has a storage namespace.",
    "datasets": "`lakebed repo list` lists repositories.",
    "delete-cache": _CACHE,
    "discussions": "See `lakebed pr list REPO`, `lakebed pr create` and `lakebed pr comment`.",
    "endpoints": "Lakebed serves data, not models. `lakebed serve` starts a server.",
    "env": "See `lakebed doctor`.",
    "jobs": _PIPELINE,
    "lfs-enable-largefiles": "Files of any size work as they are: see `lakebed upload`.",
    "models": "`lakebed repo list` lists repositories.",
    "papers": "`lakebed repo list` lists repositories.",
    "repo-files": "See `lakebed fs rm REPO/BRANCH/PATH`.",
    "repo-files delete": "See `lakebed fs rm -r REPO/BRANCH/PATH`.",
    "repos": "See `lakebed repo list`.",
    "scan-cache": _CACHE,
    "spaces": "`lakebed repo list` lists repositories.",
    "upload-large-folder": "See `lakebed upload DIR REPO/BRANCH/PATH`: after an interruption, run it again.",
    "webhooks": "See `lakebed hooks settings REPO` and `lakebed hooks deliveries REPO`.",
    "repo branch": "See `lakebed branch create REPO/BRANCH`.",
    "repo delete-files": "See `lakebed fs rm REPO/BRANCH/PATH`.",
    "repo duplicate": "`lakebed branch create` copies no data. Two repositories share none.",
    "repo files": "See `lakebed fs ls -r REPO/REF`.",
    "repo move": "A repository cannot be renamed. `lakebed repo create` makes another one.",
    "repo settings": "See `lakebed repo show REPO` and `lakebed repo protect REPO`.",
    "repo tag": _TAG,
    "collections": "`lakebed repo list` lists repositories.",
}

_FOLDER = "A folder exists as long as there is an object below it: `lakebed fs upload FILE REPO/BRANCH/FOLDER/NAME`."

_SYNC = "`lakebed upload` and `lakebed download` copy folders; `lakebed local pull` fetches changes."

SHELL = {
    "cd": "Every command takes the full path: REPO/REF/PATH. `lakebed switch` changes the branch of a directory.",
    "dir": "See `lakebed fs ls REPO/REF`.",
    "find": "`lakebed fs find REPO/REF TEXT` searches the paths.",
    "head": "`lakebed fs head REPO/REF/PATH` shows the first rows of a table.",
    "link": "See `lakebed fs link`, which adds an object that is already in a store.",
    "mkdir": _FOLDER,
    "open": "See `lakebed fs cat REPO/REF/PATH`, and `lakebed fs download`.",
    "rename": _MOVE,
    "rmdir": "See `lakebed fs rm -r REPO/BRANCH/FOLDER`.",
    "rsync": _SYNC,
    "stat": "See `lakebed fs stat REPO/REF/PATH`.",
    "sync": _SYNC,
    "tail": "`lakebed fs cat REPO/REF/PATH` prints the content; `lakebed fs head` shows the first rows of a table.",
    "touch": "`lakebed fs upload FILE REPO/BRANCH/PATH` stages a file, also an empty one.",
    "tree": "See `lakebed fs ls -r REPO/REF`.",
    "fs mkdir": _FOLDER,
    "fs mv": _MOVE,
    "fs rename": _MOVE,
    "chmod": _RIGHTS,
    "chown": _RIGHTS,
    "copy": "See `lakebed fs cp REPO/REF/PATH REPO/BRANCH/PATH`.",
    "del": "See `lakebed fs rm REPO/BRANCH/PATH`.",
    "df": "See `lakebed fs ls -r REPO/REF`. Lakebed sets no quotas.",
    "edit": "`lakebed fs download` an object, change it, and `lakebed fs upload` it again.",
    "less": _CAT,
    "ln": "`lakebed fs cp` copies without moving data.",
    "man": "`lakebed VERB --help` explains one command.",
    "mb": "`lakebed repo create REPO` creates a repository, which is a bucket for S3.",
    "more": _CAT,
    "presign": "`lakebed fs address --sign` signs an upload; `lakebed fs stat` prints an object's address.",
    "pwd": "`lakebed status`, in a directory of `lakebed local clone`, prints where it comes from.",
    "rb": "`lakebed repo delete REPO` deletes a repository, which is a bucket for S3.",
    "ren": _MOVE,
    "scp": _SYNC,
    "sftp": _SYNC,
    "tar": _ARCHIVE,
    "type": _CAT,
    "unzip": "`lakebed upload DIR REPO/BRANCH/PATH` uploads a directory; unpack the archive first.",
    "wc": "`lakebed fs stat REPO/REF/PATH` shows the size; `lakebed fs head` shows rows of a table.",
    "which": "`lakebed whoami` shows the user, and `lakebed doctor` the server and the settings.",
    "who": "See `lakebed whoami`.",
    "zip": _ARCHIVE,
}

PLAIN = {
    "account": "See `lakebed whoami`.",
    "acl": _RIGHTS,
    "backup": "`lakebed repo dump REPO` writes the commits, branches and tags to the bucket of the repository.",
    "check": _CHECK,
    "compact": _COMPACT,
    "connect": "See `lakebed login`.",
    "create": "See `lakebed repo create`, `lakebed branch create` and `lakebed tag create`.",
    "delete": "See `lakebed fs rm`, `lakebed branch delete`, `lakebed tag delete` and `lakebed repo delete`.",
    "deploy": "`lakebed serve` runs a server, and `lakebed systemd` prints a unit for it.",
    "disconnect": "See `lakebed logout`.",
    "drop": "See `lakebed reset` for changes, and `lakebed fs rm`, `lakebed branch delete` or `lakebed repo delete`.",
    "dump": "See `lakebed repo dump REPO`.",
    "duplicate": "See `lakebed fs cp`, and `lakebed branch create`, which copies no data.",
    "export": "`lakebed download REPO/REF [DIR]` copies files, and `lakebed spark export` a ref to a bucket.",
    "groups": "See `lakebed group list`.",
    "health": _CHECK,
    "lock": "`lakebed repo protect REPO PATTERN` protects branches.",
    "logs": "See `lakebed log REPO/REF`.",
    "me": "See `lakebed whoami`.",
    "optimise": _COMPACT,
    "optimize": _COMPACT,
    "new": "See `lakebed repo create` and `lakebed branch create`.",
    "passwd": _SIGN_IN,
    "password": _SIGN_IN,
    "permissions": _RIGHTS,
    "ping": _CHECK,
    "profiles": "See `lakebed profile list`.",
    "publish": "`lakebed merge REPO/SOURCE BRANCH` publishes a branch; `lakebed fs publish` uploads files.",
    "query": _SQL,
    "release": _TAG,
    "rollback": "`lakebed undo` takes back the last commit, `lakebed revert` any, `lakebed reset` uncommitted changes.",
    "schema": "`lakebed fs head REPO/REF/PATH` shows the columns and the first rows of a table.",
    "search": "`lakebed fs find REPO/REF TEXT` searches the paths.",
    "select": _SQL,
    "server": "See `lakebed serve`.",
    "share": _GRANT,
    "snapshot": _TAG,
    "sql": _SQL,
    "start": "See `lakebed serve`.",
    "stats": "See `lakebed status`, and `lakebed repo show REPO`.",
    "stop": "Ctrl-C or SIGTERM stops `lakebed serve`.",
    "test": _CHECK,
    "token": "See `lakebed key token`.",
    "ui": _PAGE,
    "unlock": "See `lakebed repo protect REPO`.",
    "unshare": "`lakebed revoke USER REPO` removes what `lakebed grant` gave.",
    "use": "`lakebed profile use NAME` chooses a server, and `lakebed switch` a branch in a directory.",
    "users": "See `lakebed user list`.",
    "vacuum": _GC,
    "validate": _CHECK,
    "verify": _CHECK,
    "web": _PAGE,
}

TOOLS = {"plain": PLAIN, "shell": SHELL, "Git": GIT, "DVC": DVC, "lakectl": LAKECTL, "hf": HUGGING_FACE}
"""The words of each tool that Lakebed itself does not have."""

_SAME = PLAIN | SHELL | HUGGING_FACE | LAKECTL | DVC | GIT

_OPTIONS = {
    ("branch", "-d"): "`lakebed branch delete REPO/BRANCH`",
    ("branch", "-D"): "`lakebed branch delete REPO/BRANCH`",
    ("branch", "-m"): "a branch cannot be renamed: `lakebed branch create REPO/NEW --source OLD` copies no data",
    ("branch", "-a"): "`lakebed branch list REPO`",
    ("branch", "-r"): "`lakebed branch list REPO`",
    ("branch", "-v"): "`lakebed branch list REPO`",
    ("tag", "-a"): "`lakebed tag create REPO/TAG REF`",
    ("tag", "-d"): "`lakebed tag delete REPO/TAG`",
    ("tag", "-l"): "`lakebed tag list REPO`",
    ("commit", "-a"): "a commit takes every change: leave -a out",
    ("commit", "--amend"): "commits never change: `lakebed undo REPO/BRANCH` takes the last one back",
    ("diff", "--staged"): "`lakebed diff REPO/BRANCH` shows what is uncommitted",
    ("diff", "--cached"): "`lakebed diff REPO/BRANCH` shows what is uncommitted",
    ("log", "-p"): "`lakebed show REPO/REF` lists the files of a commit",
    ("log", "--stat"): "`lakebed show REPO/REF` lists the files of a commit",
    ("log", "--all"): "`lakebed log REPO --graph` draws all branches",
    ("checkout", "-b"): "`lakebed switch -c BRANCH`",
    ("merge", "--no-ff"): "a merge always makes a commit: leave --no-ff out",
    ("merge", "--abort"): "a merge with conflicts changes nothing, so there is nothing to abort",
}
"""Options of Git on commands that Lakebed has too."""


def advice(group: str, words: Sequence[str]) -> str:
    """What has the meaning of some words, the longest known beginning of them. Empty for unknown words."""
    for length in range(min(3, len(words)), 0, -1):
        found = _SAME.get(" ".join([*group.split(), *words[:length]]))
        if found:
            return found
    return ""


def option_advice(command: str, option: str) -> str:
    """What an option of Git is here; empty when there is no advice."""
    return _OPTIONS.get((command, option), "")
