/**
 * Host tests of behaviour that the oldest VS Code does not have. They are left out there; all others run there, too.
 * Each is given by its full title, with the behaviour of VS Code 1.104.0.
 */
export const NOT_ON_OLDEST = {
  'activation loads neither the openai package nor a native module':
    'it asks for MCP servers as soon as a window opens, so that what answers is loaded',
  'tools of VS Code the tools of an MCP server of the workspace: none is taken to be read-only by itself':
    'it does not list the tools of the server of the test',
  'changes made elsewhere a worktree comes with what is not committed and not tracked there':
    'its git extension does not tell worktrees',
  'changes made elsewhere a file of a worktree that was changed by a commit and then moved is one change':
    'its git extension does not tell worktrees',
  'a language model of VS Code Stop ends the turn at once and cancels the request':
    'it does not tell the extension of a model that the request was cancelled',
  'a language model of VS Code @redline in VS Code’s own chat: the same session stages, applies, discards and plans':
    'a prompt that is passed to the command which opens its chat does not reach @redline',
  '@redline in VS Code’s own chat /new begins a new session, and a prompt with it is the first one there':
    'a prompt that is passed to the command which opens its chat does not reach @redline',
  '@redline in VS Code’s own chat files that are attached there go with the prompt':
    'a prompt that is passed to the command which opens its chat does not reach @redline',
  'votes by key and title, parts and all of them each hunk has the same three lenses, which act on it':
    'a diff of several files is no active text editor',
};
