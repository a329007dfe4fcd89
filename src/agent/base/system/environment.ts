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
 * The environment for programs that are no part of VS Code. `NODE_OPTIONS` is what the user started VS Code with, if VS Code
 * says so, never what steers the extension host.
 */
export function withoutEditor(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(environment).filter(([name]) => !OF_EDITOR.test(name));
  const options = environment['VSCODE_NODE_OPTIONS'];
  return { ...Object.fromEntries(kept), ...(options && { NODE_OPTIONS: options }) };
}
