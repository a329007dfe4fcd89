import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import type { ConfigEntry } from '../../src/agent/clients/setUp/jsonConfig.ts';
import type { KnownAgent } from '../../src/agent/clients/setUp/knownAgents.ts';
import type { Call } from './wireFormats.ts';

/** Where and how an agent is run once. */
export interface Run {
  /** The folder in which it is installed. */
  readonly installed: string;
  /** An empty home folder. */
  readonly home: string;
  readonly mode: Mode;
  /** The address of the model, without a path. */
  readonly model: string;
  /** The folder that the user trusts. */
  readonly folder: string;
  readonly prompt: string;
}

/** A mode of an agent. */
export interface Mode {
  readonly args: readonly string[];
  /** Where it is started; by default in the connected folder, which is in no repository. */
  readonly place?: 'subfolder' | 'repository' | 'subfolder of a repository' | 'worktree';
  /** A conversation was there before, which it goes on with. */
  readonly isResumed?: true;
  /** What else the user has written, as docs/ tells, into a file that *Connect an Agent…* has made. */
  readonly adds?: { readonly file: string; readonly entries: readonly ConfigEntry[] };
}

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface RealAgent {
  readonly id: KnownAgent['id'];
  readonly name: string;
  /** The modes in which it is run once it is connected, as `agentHolds` names them; the one in which it starts comes first. */
  readonly modes: Readonly<Record<string, Mode>>;
  /** The mode in which it asks for nothing, which it has in a view. */
  readonly free: Mode;
  /** What its model is told where a person would be asked. */
  readonly asks: RegExp;
  /** The pinned package that brings it. */
  readonly package: string;
  /** Its own tools, called to read a file, to replace a text in a file that it has read, and to run a command. */
  read(file: string): Call;
  edit(file: string, from: string, to: string): Call;
  shell(command: string): Call;
  /** Starts a program that goes on, and a sub-agent. */
  serve(command: string): Call;
  delegate(prompt: string): Call;
  /** Its program in the folder in which it is installed. */
  readonly program: string;
  /** A call that changes nothing. */
  readonly pause: Call;
  /**
   * Tells how it is started for one prompt, without a terminal, and writes into its home what the scripted model and a run without
   * a person need: neither Redline's server nor what restricts the agent, which come from the project.
   */
  launch(run: Run): Launch;
}

const node = process.execPath;

/** How people start it, without an option that concerns edits. @param resume its options that go on with the last conversation */
function starts(resume: readonly string[]): RealAgent['modes'] {
  return {
    'as it starts': { args: [] },
    'in a subfolder without git': { args: [], place: 'subfolder' },
    'in a repository': { args: [], place: 'repository' },
    'in a subfolder of a repository': { args: [], place: 'subfolder of a repository' },
    'in another worktree': { args: [], place: 'worktree' },
    'when it resumes': { args: resume, isResumed: true },
  };
}

const BASH_DENIED: ConfigEntry = { kind: 'member', path: ['permissions', 'deny'], member: 'Bash' };
const CLAUDE = `node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude${process.platform === 'win32' ? '.exe' : ''}`;

function put(folder: string, file: string, content: unknown): string {
  const at = path.join(folder, file);
  mkdirSync(path.dirname(at), { recursive: true });
  writeFileSync(at, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  return at;
}

export const realAgents: readonly RealAgent[] = [
  {
    id: 'opencode',
    name: 'opencode',
    modes: starts(['--continue']),
    free: { args: [] },
    asks: /rejected permission/,
    package: 'opencode-ai@1.18.33',
    program: 'node_modules/.bin/opencode',
    pause: { tool: 'read', args: { filePath: 'a.txt' } },
    read: filePath => ({ tool: 'read', args: { filePath } }),
    edit: (filePath, oldString, newString) => ({ tool: 'edit', args: { filePath, oldString, newString } }),
    shell: command => ({ tool: 'bash', args: { command, description: 'edits' } }),
    serve: command => ({
      tool: 'bash',
      args: { command: `nohup ${command} > /dev/null 2>&1 &`, description: 'serves' },
    }),
    delegate: prompt => ({
      tool: 'task',
      args: { description: 'helps', prompt, subagent_type: 'general' },
    }),
    launch({ installed, home, mode, model, prompt }) {
      const config = {
        model: 'local/scripted',
        small_model: 'local/scripted',
        autoupdate: false,
        share: 'disabled',
        provider: {
          local: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${model}/v1`, apiKey: 'none' },
            models: {
              scripted: { name: 'Scripted', tool_call: true, limit: { context: 100_000, output: 8_000 } },
            },
          },
        },
      };
      return {
        command: path.join(installed, 'node_modules/.bin/opencode'),
        args: ['run', ...mode.args, prompt],
        env: {
          OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
          OPENCODE_DISABLE_AUTOUPDATE: '1',
          OPENCODE_DISABLE_MODELS_FETCH: '1',
          OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
          OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
          XDG_CONFIG_HOME: path.join(home, 'config'),
          XDG_DATA_HOME: path.join(home, 'data'),
          XDG_CACHE_HOME: path.join(home, 'cache'),
          XDG_STATE_HOME: path.join(home, 'state'),
        },
      };
    },
  },
  {
    id: 'claude',
    name: 'Claude Code',
    modes: {
      ...starts(['--continue']),
      acceptEdits: { args: ['--permission-mode', 'acceptEdits'] },
      bypassPermissions: { args: ['--permission-mode', 'bypassPermissions'] },
      'acceptEdits, Bash denied': {
        args: ['--permission-mode', 'acceptEdits'],
        adds: { file: '.claude/settings.local.json', entries: [BASH_DENIED] },
      },
    },
    free: { args: ['--permission-mode', 'bypassPermissions'] },
    asks: /requires approval|requested permission/,
    package: '@anthropic-ai/claude-code@2.1.331',
    program: CLAUDE,
    pause: { tool: 'WaitForMcpServers', args: {} },
    read: file_path => ({ tool: 'Read', args: { file_path } }),
    edit: (file_path, old_string, new_string) => ({
      tool: 'Edit',
      args: { file_path, old_string, new_string },
    }),
    shell: command => ({ tool: 'Bash', args: { command, description: 'edits' } }),
    serve: command => ({ tool: 'Bash', args: { command, description: 'serves', run_in_background: true } }),
    delegate: prompt => ({
      tool: 'Agent',
      args: { description: 'helps', prompt, subagent_type: 'general-purpose', run_in_background: false },
    }),
    launch({ installed, home, folder, mode, model, prompt }) {
      put(home, '.claude/.claude.json', {
        hasCompletedOnboarding: true,
        projects: { [folder]: { hasTrustDialogAccepted: true } },
      });
      return {
        command: path.join(installed, CLAUDE),
        args: ['-p', prompt, '--model', 'sonnet', ...mode.args],
        env: {
          CLAUDE_CONFIG_DIR: path.join(home, '.claude'),
          ANTHROPIC_BASE_URL: model,
          ANTHROPIC_API_KEY: 'none',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          DISABLE_TELEMETRY: '1',
          DISABLE_AUTOUPDATER: '1',
          DISABLE_ERROR_REPORTING: '1',
          ENABLE_TOOL_SEARCH: 'false',
          // As root it bypasses permissions only where it is told that this is a machine for that.
          IS_SANDBOX: '1',
        },
      };
    },
  },
  {
    id: 'codex',
    name: 'Codex',
    modes: {
      ...starts(['resume', '--last']),
      'workspace-write': { args: ['--sandbox', 'workspace-write'] },
      'danger-full-access': { args: ['--sandbox', 'danger-full-access'] },
    },
    free: { args: ['--sandbox', 'workspace-write'] },
    asks: /requires approval/,
    package: '@openai/codex@0.169.0',
    program: 'node_modules/.bin/codex',
    pause: { tool: 'exec_command', args: { cmd: 'sleep 1' } },
    read: file => ({ tool: 'exec_command', args: { cmd: `cat '${file}'` } }),
    // It takes this command for its tool `apply_patch`, which it offers to some models only.
    edit: (file, from, to) => ({
      tool: 'exec_command',
      args: {
        cmd: [
          `apply_patch <<'PATCH'\n*** Begin Patch\n*** Update File: ${path.basename(file)}\n@@`,
          ...from.split('\n').map(line => `-${line}`),
          ...to.split('\n').map(line => `+${line}`),
          '*** End Patch\nPATCH',
        ].join('\n'),
      },
    }),
    shell: command => ({ tool: 'exec_command', args: { cmd: command } }),
    serve: command => ({ tool: 'exec_command', args: { cmd: command, yield_time_ms: 500 } }),
    delegate: prompt => ({ tool: 'spawn_agent', args: { message: prompt } }),
    launch({ installed, home, folder, mode, model, prompt }) {
      const text = (value: string): string => JSON.stringify(value);
      put(
        home,
        '.codex/config.toml',
        `model = "gpt-5"\nmodel_provider = "local"\ncheck_for_update_on_startup = false\n\n` +
          `[model_providers.local]\nname = "Local"\nbase_url = ${text(`${model}/v1`)}\nwire_api = "responses"\nenv_key = "LOCAL_KEY"\n\n` +
          `[projects.${text(folder)}]\ntrust_level = "trusted"\n`,
      );
      const program = path.join(installed, 'node_modules/@openai/codex/bin/codex.js');
      chmodSync(program, 0o755);
      return {
        command: node,
        args: [program, 'exec', '--skip-git-repo-check', ...mode.args, prompt],
        env: { CODEX_HOME: path.join(home, '.codex'), LOCAL_KEY: 'none' },
      };
    },
  },
];
