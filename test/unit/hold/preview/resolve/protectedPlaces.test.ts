import { test } from 'node:test';
import assert from 'node:assert/strict';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import { knownAgents } from '../../../../../src/agent/clients/setUp/knownAgents.ts';
import { terminalAgents } from '../../../../../src/agent/clients/view/terminalAgents.ts';
import { isProtectedPath } from '../../../../../src/agent/hold/preview/resolve/protectedPlaces.ts';
import { InstructionFiles } from '../../../../../src/views/workspace/instructionFiles.ts';
import { MemoryWorkspace } from '../../../../support/memoryWorkspace.ts';

const humanOnly = [
  '.vscode./settings.json',
  '.vscode /settings.json',
  'AGENTS.md.',
  'AGENTS.md::$DATA',
  '.vscode::$INDEX_ALLOCATION/settings.json',
  '.redline/tools/a.ts',
  '.redline',
  '.vscode/tasks.json',
  'web/.vscode/settings.json',
  '.VSCode/settings.json',
  'AGENTS.md',
  'packages/a/agents.MD',
  'my.code-workspace',
  'sub/my.code-workspace',
  '.gitignore',
  '.gitattributes',
  '.gitmodules',
  '.github/workflows/ci.yml',
  'sub/.githooks/pre-commit',
  '.husky/pre-commit',
  '.devcontainer/devcontainer.json',
  '.devcontainer.json',
  'sub/.envrc',
  '.idea/workspace.xml',
  '.mcp.json',
  'CLAUDE.md',
  'docs/gemini.md',
  '.cursorrules',
  '.cursor/rules/a.mdc',
  '.v\u017Fcode/settings.json', // a long s
  '.hus\u212Ay/pre-commit', // the Kelvin sign
  '.\uFF56\uFF53\uFF43\uFF4F\uFF44\uFF45/settings.json', // full-width letters
  '\uFF0Evscode/settings.json', // a full-width full stop
  '.g\u200Cit/hooks/pre-commit', // HFS+ skips what joins and parts letters
  '.\uFEFFvscode/tasks.json',
  'CLAUDE.md ::$DATA',
  '/home/me/.redline/tools/mine/src/a.ts',
  'C:/Users/me/.VSCODE/a.json',
  'CLAUDE.local.md',
  'sub/Claude.LOCAL.md',
  'AGENTS.override.md',
  'deep/er/AGENT.md',
  'skills/x/SKILL.md',
  '.new-agent/skills/x/run.sh',
  '.agents/skills/x/run.sh',
  '.copilot/mcp-config.json',
  '.windsurf/rules/a.md',
  '.windsurfrules',
  '.clinerules',
  '.clinerules/a.md',
  '.cline/skills/a.md',
  '.roo/rules/a.md',
  '.roomodes',
  '.kilocode/mcp.json',
  '.kiro/steering/a.md',
  '.continue/config.yaml',
  '.continuerc.json',
  '.aider.conf.yml',
  '.crush.json',
  'crush.json',
  '.goosehints',
  '.junie/guidelines.md',
  '.rules',
  'mcp.json',
  '.zed/settings.json',
  '.vs/tasks.vs.json',
  '.fleet/run.json',
  '.nvim.lua',
  '.exrc',
  '.hg/hgrc',
  '.pre-commit-config.yaml',
  'lefthook.yml',
  '.lefthook-local.toml',
  '.npmrc',
  '.yarnrc.yml',
  '.pnpmfile.cjs',
  'crates/a/.Cargo/Config.toml',
  '.bazelrc',
  'mise.toml',
  'mise.local.toml',
  '.mise.toml',
  '.mise/tasks/a',
  '.tool-versions',
  '.envrc.local',
  '.direnv/bin/node',
  '.lldbinit',
  '.gdbinit',
];
const anybody = [
  'src/vscode/a.ts',
  'src/.vscodeignore',
  'a.redline/x',
  'MY-AGENTS.md.txt',
  'docs/NOT-AGENTS.md',
  'my.code-workspaces',
  'git/a',
  'a.git',
  'husky/pre-commit',
  'CLAUDE.mdx',
  'src/commands/mise.ts',
  'src/lefthook/a.ts',
  'src/skills/a.ts',
  'gradle/libs.versions.toml',
  'tools/bazel.md',
  'package.json',
  'Makefile',
  'pyrightconfig.json',
  'eslint.config.js',
  '.eslintrc.js',
  '.env',
  'cursor/a',
  'xmcp.json',
  '.mcp-json',
  'C:/Users/me/a.ts',
];

for (const path of humanOnly) {
  test(`a change of ${path} is always a human's`, () => {
    assert.equal(isProtectedPath(path), true);
  });
}
for (const path of anybody) {
  test(`a change of ${path} is an ordinary one`, () => {
    assert.equal(isProtectedPath(path), false);
  });
}

const CASES: Readonly<Record<string, (path: string) => string>> = {
  'as it is': path => path,
  'in any case': path => path.toUpperCase(),
  'at any depth': path => `packages/a/${path}`,
};

for (const [how, spelled] of Object.entries(CASES)) {
  test(`the files that connect an agent are a human's, ${how}`, () => {
    const files = knownAgents.flatMap(({ files: each }) => each.flatMap(({ names }) => names));
    assert.ok(files.length > knownAgents.length);
    assert.deepEqual(
      files.filter(file => !isProtectedPath(spelled(file))),
      [],
    );
  });

  test(`what agents keep of their own is a human's, ${how}`, () => {
    const kept = terminalAgents.flatMap(({ home }) => home);
    assert.ok(kept.length > terminalAgents.length);
    assert.deepEqual(
      kept.filter(place => !isProtectedPath(spelled(place.replace(/\/$/, '/a')))),
      [],
    );
  });

  test(`the instructions that sessions read are a human's, ${how}`, async () => {
    const asked: string[] = [];
    const workspace = Object.assign(new MemoryWorkspace({}), {
      folders: () => [{ name: 'root' }],
      pathOf: (input: string) => input,
      resolvePath: (input: string) => {
        asked.push(input);
        return Promise.resolve(input);
      },
    });
    await new InstructionFiles(workspace, () => true, silentLogger).read(['src/a.ts']);
    assert.ok(asked.some(file => file.startsWith('src/')));
    assert.deepEqual(
      asked.filter(file => !isProtectedPath(spelled(file))),
      [],
    );
  });
}
