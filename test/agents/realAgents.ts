import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import type { KnownAgent } from '../../src/agent/clients/setUp/knownAgents.ts';
import type { Call } from './wireFormats.ts';

/** Where and how an agent is run once. */
export interface Run {
  /** The folder in which it is installed. */
  readonly installed: string;
  /** An empty home folder. */
  readonly home: string;
  /** The address of the model, without a path. */
  readonly model: string;
  /** The project, which holds the configuration that *Connect an Agent…* writes. */
  readonly folder: string;
  readonly prompt: string;
}

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The arguments with which it runs before, as the user approves the server. */
  readonly before?: readonly string[];
}

export interface RealAgent {
  /** That of an agent which *Connect an Agent…* knows, or of one that is only run in a view. */
  readonly id: KnownAgent['id'] | 'gemini';
  readonly name: string;
  /** The mode in which it is run, as the program names it. */
  readonly mode: string;
  /** The pinned package that brings it. */
  readonly package: string;
  /** Its shell, called to run a command. */
  shell(command: string): Call;
  /** Its program in the folder in which it is installed, and what lets it run its shell without a person. */
  readonly program: string;
  readonly unheld?: readonly string[];
  /** A call that changes nothing. */
  readonly pause: Call;
  /**
   * Tells how it is started for one prompt, without a terminal, and writes into its home what the scripted model and a run without
   * a person need: neither Redline's server nor what restricts the agent, which come from the project.
   */
  launch(run: Run): Launch;
}

const node = process.execPath;
const CLAUDE_SDK = `claude-agent-sdk-${process.platform}-${process.arch}`;
const COPILOT = `node_modules/@github/copilot-${process.platform}-${process.arch}`;
const CLAUDE = process.platform === 'win32' ? 'claude.exe' : 'claude';

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
    mode: 'yolo',
    package: '@qwen-code/qwen-code@0.24.4',
    program: 'node_modules/.bin/qwen',
    pause: { tool: 'read_file', args: { file_path: 'a.txt' } },
    shell: command => ({ tool: 'run_shell_command', args: { command, is_background: false } }),
    launch({ installed, home, model, prompt }) {
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
        args: [program, '--auth-type', 'openai', '--approval-mode', 'yolo', '-p', prompt],
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
    mode: 'build',
    package: 'opencode-ai@1.18.33',
    program: 'node_modules/.bin/opencode',
    pause: { tool: 'read', args: { filePath: 'a.txt' } },
    shell: command => ({ tool: 'bash', args: { command, description: 'edits' } }),
    launch({ installed, home, model, prompt }) {
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
        args: ['run', prompt],
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
    mode: 'allow-all-tools trust-folder',
    package: '@github/copilot@1.0.102',
    program: `${COPILOT}/copilot`,
    pause: { tool: 'view', args: { path: 'a.txt' } },
    shell: command => ({ tool: 'bash', args: { command, description: 'edits' } }),
    launch({ installed, model, prompt }) {
      return {
        command: path.join(installed, COPILOT, 'copilot'),
        args: ['-p', prompt, '--no-auto-update', '--allow-all-tools', '--trust-folder'],
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
    mode: 'yolo',
    package: '@google/gemini-cli@0.61.0',
    program: 'node_modules/.bin/gemini',
    pause: { tool: 'read_file', args: { file_path: 'a.txt' } },
    shell: command => ({ tool: 'run_shell_command', args: { command, description: 'edits' } }),
    launch({ installed, home, model, prompt }) {
      put(home, '.gemini/settings.json', {
        security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false, disableAutoUpdate: true },
        privacy: { usageStatisticsEnabled: false },
      });
      const program = path.join(installed, 'node_modules/@google/gemini-cli/bundle/gemini.js');
      return {
        command: node,
        args: [program, '-m', 'gemini-2.5-pro', '--approval-mode', 'yolo', '-p', prompt],
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
    mode: 'acceptEdits',
    package: '@agentclientprotocol/claude-agent-acp@0.100.0',
    program: `node_modules/@anthropic-ai/${CLAUDE_SDK}/${CLAUDE}`,
    pause: { tool: 'WaitForMcpServers', args: {} },
    shell: command => ({ tool: 'Bash', args: { command, description: 'edits' } }),
    launch({ installed, home, folder, model, prompt }) {
      put(home, '.claude/.claude.json', {
        hasCompletedOnboarding: true,
        projects: { [folder]: { hasTrustDialogAccepted: true } },
      });
      return {
        command: path.join(installed, 'node_modules/@anthropic-ai', CLAUDE_SDK, CLAUDE),
        args: ['-p', prompt, '--model', 'sonnet', '--permission-mode', 'acceptEdits'],
        env: {
          CLAUDE_CONFIG_DIR: path.join(home, '.claude'),
          ANTHROPIC_BASE_URL: model,
          ANTHROPIC_API_KEY: 'none',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          DISABLE_TELEMETRY: '1',
          DISABLE_AUTOUPDATER: '1',
          DISABLE_ERROR_REPORTING: '1',
          ENABLE_TOOL_SEARCH: 'false',
        },
      };
    },
  },
  {
    id: 'codex',
    name: 'Codex',
    mode: 'read-only',
    package: '@agentclientprotocol/codex-acp@2.6.0',
    program: 'node_modules/.bin/codex',
    unheld: ['--dangerously-bypass-approvals-and-sandbox'],
    pause: { tool: 'exec_command', args: { cmd: 'sleep 1' } },
    shell: command => ({ tool: 'exec_command', args: { cmd: command } }),
    launch({ installed, home, folder, model, prompt }) {
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
        args: [program, 'exec', '--skip-git-repo-check', prompt],
        env: { CODEX_HOME: path.join(home, '.codex'), LOCAL_KEY: 'none' },
      };
    },
  },
];
