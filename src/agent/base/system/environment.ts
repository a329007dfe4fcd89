/**
 * The environment variables after these changes; `null` and `undefined` remove a variable. On Windows `PATH` and `Path` are
 * one variable: if both were set, a program would get only one of them.
 */
export function withVariables(
  base: NodeJS.ProcessEnv,
  changes: Readonly<Record<string, string | null | undefined>>,
  platform: NodeJS.Platform = process.platform,
): NodeJS.ProcessEnv {
  const changed: NodeJS.ProcessEnv = { ...base };
  const isSame = (a: string, b: string): boolean =>
    platform === 'win32' ? a.toUpperCase() === b.toUpperCase() : a === b;
  for (const [name, value] of Object.entries(changes)) {
    for (const known of Object.keys(changed)) if (isSame(known, name)) delete changed[known];
    if (typeof value === 'string') changed[name] = value;
  }
  return changed;
}

/** Variables by which VS Code, Electron and their packages steer their own processes. */
const OF_EDITOR =
  /^(ELECTRON_.*|VSCODE_.*|NODE_OPTIONS|AMD_ENTRYPOINT|CHROME_DESKTOP|SNAP(_.*)?|GDK_PIXBUF_.*)$/i;

/**
 * The environment for programs that are not part of VS Code. `NODE_OPTIONS` has the value that the user started VS Code with, if VS
 * Code passes it on, never the extension host's own.
 */
export function withoutEditor(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(environment).filter(([name]) => !OF_EDITOR.test(name));
  const options = environment['VSCODE_NODE_OPTIONS'];
  return { ...Object.fromEntries(kept), ...(options && { NODE_OPTIONS: options }) };
}

/**
 * Variables that make the program loader, a shell, an interpreter or git run code that it was not asked to run, and variables that
 * lead to start-up files. Search paths such as `PATH` and `PYTHONPATH` are not among them.
 */
const LOADERS = new RegExp(
  `^(${[
    ...['LD_.*', 'DYLD_.*', 'GCONV_PATH', 'GLIBC_TUNABLES', 'ENV', 'BASH_.*', 'BASHOPTS', 'SHELLOPTS', 'PS4'],
    ...[
      'PROMPT_COMMAND',
      'ZDOTDIR',
      'HOME',
      'USERPROFILE',
      'XDG_CONFIG_.*',
      'COMSPEC',
      'GIT_.*',
      'SSH_ASKPASS',
    ],
    ...['NODE_OPTIONS', 'BUN_OPTIONS', 'PYTHON(STARTUP|HOME|INSPECT|WARNINGS|BREAKPOINT)', 'PERL5(OPT|DB)'],
    ...['RUBYOPT', 'LUA_INIT.*', 'PHPRC', 'PHP_INI_SCAN_DIR', '_?JAVA_(TOOL_)?OPTIONS', 'JDK_JAVA_OPTIONS'],
    ...[
      'DOTNET_STARTUP_HOOKS',
      'COR(ECLR)?_.*',
      '(ERL|ELIXIR)_.*',
      'R_(PROFILE|ENVIRON).*',
      'LESS(OPEN|CLOSE)',
    ],
  ].join('|')})$`,
  'i',
);

/** Whether a variable of this name may make programs run something else: a workspace's settings must not set it. */
export function isLoader(name: string): boolean {
  return LOADERS.test(name);
}
