import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';

/** Where and how an agent is run once. */
export interface Run {
  /** The folder in which it is installed. */
  readonly installed: string;
  /** An empty home folder. */
  readonly home: string;
  /** The address of the model, without a path. */
  readonly model: string;
  /** What starts `redline-mcp`. */
  readonly bridge: readonly [command: string, script: string];
  readonly prompt: string;
}

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface RealAgent {
  readonly id: string;
  readonly name: string;
  /** The pinned package that brings it. */
  readonly package: string;
  /** Writes its configuration into its home, and tells how it is started for one prompt, without a terminal. */
  launch(run: Run): Launch;
}

const node = process.execPath;

function put(folder: string, file: string, content: unknown): string {
  const at = path.join(folder, file);
  mkdirSync(path.dirname(at), { recursive: true });
  writeFileSync(at, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  return at;
}

export const realAgents: readonly RealAgent[] = [
  {
    id: 'gemini',
    name: 'Gemini CLI',
    package: '@google/gemini-cli@0.61.0',
    launch({ installed, home, model, bridge: [command, script], prompt }) {
      put(home, '.gemini/settings.json', {
        security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false, disableAutoUpdate: true },
        privacy: { usageStatisticsEnabled: false },
        mcpServers: { redline: { command, args: [script], trust: true } },
      });
      const policy = put(
        home,
        'policy.toml',
        '[[rule]]\ntoolName = ["write_file", "replace", "run_shell_command"]\ndecision = "deny"\npriority = 900\n\n' +
          '[[rule]]\nmcpName = "redline"\ntoolName = "*"\ndecision = "allow"\npriority = 900\n',
      );
      const program = path.join(installed, 'node_modules/@google/gemini-cli/bundle/gemini.js');
      return {
        command: node,
        args: [program, '-m', 'gemini-2.5-pro', '--policy', policy, '-p', prompt],
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
    id: 'qwen',
    name: 'Qwen Code',
    package: '@qwen-code/qwen-code@0.24.4',
    launch({ installed, home, model, bridge: [command, script], prompt }) {
      put(home, '.qwen/settings.json', {
        security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false, disableAutoUpdate: true },
        privacy: { usageStatisticsEnabled: false },
        mcpServers: { redline: { command, args: [script], trust: true } },
        // Otherwise the model has to look for the tools of servers first, which the script does not.
        tools: { toolSearch: { enabled: false } },
      });
      const program = path.join(installed, 'node_modules/@qwen-code/qwen-code/cli-entry.js');
      return {
        command: node,
        args: [program, '--auth-type', 'openai', '-p', prompt],
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
    package: 'opencode-ai@1.18.33',
    launch({ installed, home, model, bridge, prompt }) {
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
        permission: { edit: 'deny', bash: 'deny' },
        mcp: { redline: { type: 'local', command: bridge, enabled: true } },
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
    id: 'claude',
    name: 'Claude Code',
    package: '@agentclientprotocol/claude-agent-acp@0.100.0',
    launch({ installed, home, model, bridge: [command, script], prompt }) {
      const servers = put(home, 'mcp.json', {
        mcpServers: { redline: { type: 'stdio', command, args: [script] } },
      });
      const sdk = `claude-agent-sdk-${process.platform}-${process.arch}`;
      return {
        command: path.join(
          installed,
          'node_modules/@anthropic-ai',
          sdk,
          process.platform === 'win32' ? 'claude.exe' : 'claude',
        ),
        args: [
          ...['-p', prompt, '--model', 'sonnet', '--permission-mode', 'default'],
          ...['--mcp-config', servers, '--strict-mcp-config', '--allowedTools', 'mcp__redline'],
          ...['--disallowedTools', 'Edit,Write,MultiEdit,NotebookEdit,Bash'],
        ],
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
    package: '@agentclientprotocol/codex-acp@2.6.0',
    launch({ installed, home, model, bridge: [command, script], prompt }) {
      const text = (value: string): string => JSON.stringify(value);
      put(
        home,
        '.codex/config.toml',
        `model = "gpt-5"\nmodel_provider = "local"\ncheck_for_update_on_startup = false\n\n` +
          `[model_providers.local]\nname = "Local"\nbase_url = ${text(`${model}/v1`)}\nwire_api = "responses"\nenv_key = "LOCAL_KEY"\n\n` +
          `[mcp_servers.redline]\ncommand = ${text(command)}\nargs = [${text(script)}]\n` +
          `default_tools_approval_mode = "approve"\n`,
      );
      const program = path.join(installed, 'node_modules/@openai/codex/bin/codex.js');
      chmodSync(program, 0o755);
      return {
        command: node,
        args: [program, 'exec', '--skip-git-repo-check', '--sandbox', 'read-only', prompt],
        env: { CODEX_HOME: path.join(home, '.codex'), LOCAL_KEY: 'none' },
      };
    },
  },
];
