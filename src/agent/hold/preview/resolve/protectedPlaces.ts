/**
 * Names of files and folders (those with a slash at the end) that can run code or widen what an agent may do, by the reason.
 * A star stands for any part of a name. In every mode, only the user may apply changes to them or to anything inside them.
 * docs/who-decides.md shows this list.
 */
export const PROTECTED_PLACES = {
  /** An editor runs them, or starts programs that they name, when it opens their folder. */
  editors: words(
    '.redline/ .vscode/ *.code-workspace .devcontainer/ .devcontainer.json .idea/ .vs/ .zed/ .fleet/ .nova/ .theia/ .helix/ ' +
      '.vim/ .vimrc .nvim* .exrc .dir-locals* .codesandbox/ .stackblitzrc .replit*',
  ),
  /** Version control runs programs that they name, or hooks with each commit. */
  versionControl: words(
    '.git* .hg* .jj/ .sl/ .svn/ .husky/ .pre-commit-config.* prek.toml lefthook.* lefthook-local.* .lefthook* .overcommit.yml ' +
      '.lintstagedrc* lint-staged.config.*',
  ),
  /** A shell, or a tool that it asks, runs them when it starts or enters their folder. */
  shells: words(
    '.envrc* .direnv/ .autoenv* .shadowenv.d/ mise*.toml mise/config*.toml .mise* .tool-versions .prototools devbox.json ' +
      'devenv.* flake.nix shell.nix .bash* .zsh* .zprofile .zlog* .profile .ssh/ .config/ .local/bin/',
  ),
  /** A tool runs programs that they name each time it starts, for any purpose. */
  tools: words(
    '.npmrc .yarnrc* .yarn/ .pnpmfile.* bunfig.toml .cargo/ rust-toolchain* .bazel* tools/bazel .buckconfig* .mvn/ ' +
      'gradle/wrapper/ .bsp/ .lldbinit* .gdbinit sitecustomize.py usercustomize.py .pdbrc* .irbrc .pryrc .Rprofile .Renviron ' +
      '.ghci .iex.exs',
  ),
  /** An agent follows them as instructions, or reads its permissions and the programs that it starts from them. */
  agents: words(
    'AGENTS*.md AGENT.md CLAUDE*.md GEMINI.md QWEN.md CRUSH.md WARP.md SKILL.md .*/skills/ .rules .mcp.json mcp.json .agents/ ' +
      '.agent/ .ai/ .aiassistant/ .aiexclude .aiignore .aider* .amazonq/ .amp/ .antigravity* .augment* .bob/ .claude* .cline* ' +
      '.codebuddy* .codeium* .codex* .continue* .copilot* .crush* crush.json .cursor* .devin* .factory* .forge/ .gemini* ' +
      '.goose* .grok/ .iflow* .junie* .kilo* .kimi* .kiro* .lingma/ .mux/ .omp/ .opencode* opencode.json* .local/*/opencode/ .cache/opencode/ ' +
      '.openhands* .pi/ .qoder* .qwen* .roo* .rovodev* .tabnine* .trae* .vibe/ .warp* .windsurf*',
  ),
} as const;

const PROTECTED = new RegExp(
  `(?:^|/)(?:${Object.values(PROTECTED_PLACES).flat().map(patternOf).join('|')})(?:/|$)`,
);

function words(text: string): readonly string[] {
  return text.split(' ');
}

function patternOf(place: string): string {
  return foldCase(place).replace(/\/$/, '').replaceAll('.', '\\.').replaceAll('*', '[^/]*');
}

/** Whether a name in the absolute or relative path is that of a protected place. */
export function isProtectedPath(path: string): boolean {
  return isProtectedFolded(foldPath(path));
}

/** Whether a name is that of a repository, `.git`, for some file system: NTFS also calls it `git~1`, and ends it at a backslash. */
export function isGitName(name: string): boolean {
  return /^(\.git|git~1)$/.test(foldName(name.replace(/\\.*$/s, '')));
}

/** Like {@link isProtectedPath}, for a path that is already folded. */
export function isProtectedFolded(path: string): boolean {
  return PROTECTED.test(path);
}

/**
 * Folds a path with forward slashes, so that all paths that some file system treats as the same have one text. Different
 * texts mean different places, but different places may have the same text. The result has no slash at the end.
 */
export function foldPath(path: string): string {
  return path.split('/').map(foldName).join('/').replace(/\/$/, '');
}

/** Folds a single name of a path, see {@link foldPath}. */
export function foldName(name: string): string {
  const folded = foldCase(name);
  if (/^[a-z]:$/.test(folded)) return folded; // a drive
  // Windows ignores dots and spaces at the end of a name, and a colon begins the name of a stream of the same file.
  return folded.replace(/:.*$/s, '').replace(/(?<![. ])[. ]+$/, '');
}

/** Folds case and compatible characters of Unicode (ſ and the full-width s become s), and removes invisible characters. */
export function foldCase(text: string): string {
  if (/^[ -~]*$/.test(text)) return text.toLowerCase(); // ASCII, as most names are: several times as quick
  const visible = text.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  return visible.toUpperCase().toLowerCase().normalize('NFKC');
}
