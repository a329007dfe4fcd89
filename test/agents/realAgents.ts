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
  /** The project, which holds the configuration that *Connect an Agent…* writes. */
  readonly folder: string;
  readonly prompt: string;
}

/** A mode of an agent. */
export interface Mode {
  readonly args: readonly string[];
  /** What else the user has written, as docs/ tells, into a file that *Connect an Agent…* has made. */
  readonly adds?: { readonly file: string; readonly entries: readonly ConfigEntry[] };
  /** The user has copied the hook into the home folder, as docs/ tells. */
  readonly hasOwnHook?: true;
  /** What it shows when it asks. It is run at a terminal then, because it leaves out what it could not ask for without one. */
  readonly question?: RegExp;
}

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The arguments with which it runs before, as the user approves the server. */
  readonly before?: readonly string[];
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
const BASH_DENIED: ConfigEntry = { kind: 'member', path: ['permissions', 'deny'], member: 'Bash' };
const QWEN_ASKS = /Waiting for user confirmation/;
const COPILOT = `node_modules/@github/copilot-${process.platform}-${process.arch}`;
const CLAUDE = `node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude${process.platform === 'win32' ? '.exe' : ''}`;

function put(folder: string, file: string, content: unknown): string {
  const at = path.join(folder, file);
  mkdirSync(path.dirname(at), { recursive: true });
  writeFileSync(at, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  return at;
}

export const realAgents: readonly RealAgent[] = [
  {
    id: 'qwen',
    name: 'Qwen Code',
    modes: {
      default: { args: ['--approval-mode', 'default'], question: QWEN_ASKS },
      'auto-edit': { args: ['--approval-mode', 'auto-edit'], question: QWEN_ASKS },
      yolo: { args: ['--approval-mode', 'yolo'] },
      'yolo, Bash denied': {
        args: ['--approval-mode', 'yolo'],
        adds: { file: '.qwen/settings.json', entries: [BASH_DENIED] },
      },
    },
    free: { args: ['--approval-mode', 'yolo'] },
    asks: /requires user approval/,
    package: '@qwen-code/qwen-code@0.24.4',
    program: 'node_modules/.bin/qwen',
    pause: { tool: 'read_file', args: { file_path: 'a.txt' } },
    read: file_path => ({ tool: 'read_file', args: { file_path } }),
    edit: (file_path, old_string, new_string) => ({
      tool: 'edit',
      args: { file_path, old_string, new_string },
    }),
    shell: command => ({ tool: 'run_shell_command', args: { command, is_background: false } }),
    launch({ installed, home, mode, model, prompt }) {
      put(home, '.qwen/settings.json', {
        security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false, disableAutoUpdate: true },
        privacy: { usageStatisticsEnabled: false },
        // Otherwise the model has to look for the tools of servers first, which the script does not.
        tools: { toolSearch: { enabled: false } },
      });
      const program = path.join(installed, 'node_modules/@qwen-code/qwen-code/cli-entry.js');
      return {
        command: node,
        before: [program, 'mcp', 'approve', 'redline'],
        args: [program, '--auth-type', 'openai', ...mode.args, mode.question ? '-i' : '-p', prompt],
        env: {
          OPENAI_API_KEY: 'none',
          OPENAI_BASE_URL: `${model}/v1`,
          OPENAI_MODEL: 'scripted',
          GEMINI_CLI_NO_RELAUNCH: '1',
          NO_BROWSER: '1',
        },
      };
    },
  },
  {
    id: 'opencode',
    name: 'opencode',
    modes: { build: { args: [] } },
    free: { args: [] },
    asks: /rejected permission/,
    package: 'opencode-ai@1.18.33',
    program: 'node_modules/.bin/opencode',
    pause: { tool: 'read', args: { filePath: 'a.txt' } },
    read: filePath => ({ tool: 'read', args: { filePath } }),
    edit: (filePath, oldString, newString) => ({ tool: 'edit', args: { filePath, oldString, newString } }),
    shell: command => ({ tool: 'bash', args: { command, description: 'edits' } }),
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
    id: 'copilot',
    name: 'Copilot CLI',
    modes: {
      'allow-all-tools trust-folder': { args: ['--allow-all-tools', '--trust-folder'] },
      '-p allow-all-tools': { args: ['--allow-all-tools'] },
      '-p allow-all-tools, hook in ~/.copilot': { args: ['--allow-all-tools'], hasOwnHook: true },
    },
    free: { args: ['--allow-all-tools', '--trust-folder'] },
    asks: /permission/i,
    package: '@github/copilot@1.0.102',
    program: `${COPILOT}/copilot`,
    pause: { tool: 'view', args: { path: 'a.txt' } },
    read: path => ({ tool: 'view', args: { path } }),
    edit: (path, old_str, new_str) => ({ tool: 'edit', args: { path, old_str, new_str } }),
    shell: command => ({ tool: 'bash', args: { command, description: 'edits' } }),
    launch({ installed, mode, model, prompt }) {
      return {
        command: path.join(installed, COPILOT, 'copilot'),
        args: ['-p', prompt, '--no-auto-update', ...mode.args],
        env: {
          COPILOT_OFFLINE: 'true',
          COPILOT_AUTO_UPDATE: 'false',
          COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
          COPILOT_PROVIDER_API_KEY: 'none',
          COPILOT_MODEL: 'scripted',
        },
      };
    },
  },
  {
    id: 'gemini',
    name: 'Gemini CLI',
    modes: Object.fromEntries(
      ['yolo', 'auto_edit', 'default'].map(mode => [mode, { args: ['--approval-mode', mode] }]),
    ),
    free: { args: ['--approval-mode', 'yolo'] },
    asks: /requires user approval/,
    package: '@google/gemini-cli@0.61.0',
    program: 'node_modules/.bin/gemini',
    pause: { tool: 'read_file', args: { file_path: 'a.txt' } },
    read: file_path => ({ tool: 'read_file', args: { file_path } }),
    edit: (file_path, old_string, new_string) => ({
      tool: 'replace',
      args: { file_path, instruction: 'As the prompt says.', old_string, new_string },
    }),
    shell: command => ({ tool: 'run_shell_command', args: { command, description: 'edits' } }),
    launch({ installed, home, mode, model, prompt }) {
      put(home, '.gemini/settings.json', {
        security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false, disableAutoUpdate: true },
        privacy: { usageStatisticsEnabled: false },
      });
      const program = path.join(installed, 'node_modules/@google/gemini-cli/bundle/gemini.js');
      return {
        command: node,
        args: [program, '-m', 'gemini-2.5-pro', ...mode.args, '-p', prompt],
        env: {
          GEMINI_API_KEY: 'none',
          GOOGLE_GEMINI_BASE_URL: model,
          GEMINI_CLI_NO_RELAUNCH: '1',
          GEMINI_CLI_TRUST_WORKSPACE: 'true',
          NO_BROWSER: '1',
        },
      };
    },
  },
  {
    id: 'claude',
    name: 'Claude Code',
    modes: {
      acceptEdits: { args: ['--permission-mode', 'acceptEdits'] },
      default: { args: ['--permission-mode', 'default'] },
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
      'read-only': { args: [] },
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
