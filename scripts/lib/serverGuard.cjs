/**
 * Loaded into the VS Code server before anything else: ends it, with all it started, when the process that started
 * it is gone. The sign is the end of standard input, which comes even after a SIGKILL.
 */
if (process.argv[1]?.endsWith('server-main.js')) {
  process.stdin.on('end', () => process.kill(0, 'SIGKILL'));
  process.stdin.on('error', () => process.kill(0, 'SIGKILL'));
  process.stdin.resume();
}
