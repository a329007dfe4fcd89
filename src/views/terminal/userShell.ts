/**
 * The shell that runs the user's commands.
 * @param told what VS Code says. It is empty for a moment after a window opens, and in some windows for good; then the
 *   environment tells, or the system's own shell is taken.
 */
export function userShell(
  told: string,
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): string {
  const isWindows = platform === 'win32';
  const known = [told, isWindows ? env['ComSpec'] : env['SHELL']];
  return known.find(shell => shell !== undefined && shell !== '') ?? (isWindows ? 'cmd.exe' : '/bin/sh');
}
