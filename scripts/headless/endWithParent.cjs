/**
 * Preloaded into VS Code's server: kills it and its children when its parent has ended, even by SIGKILL. It notices
 * because its standard input then ends.
 */
if (process.argv[1]?.endsWith('server-main.js')) {
  process.stdin.on('end', () => process.kill(0, 'SIGKILL'));
  process.stdin.on('error', () => process.kill(0, 'SIGKILL'));
  process.stdin.resume();
}
