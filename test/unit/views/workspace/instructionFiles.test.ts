import { after, beforeEach, test } from 'node:test';
import assert from 'node:assert/strict';
import { rm, symlink, unlink } from 'node:fs/promises';
import { silentLogger } from '../../../../src/agent/base/logger.ts';
import { withParagraph } from '../../../../src/agent/clients/setUp/connectedText.ts';
import type { FolderRoot } from '../../../../src/agent/hold/preview/workspace.ts';
import { InstructionFiles } from '../../../../src/views/workspace/instructionFiles.ts';
import { locate, workspacePathOf } from '../../../../src/views/workspace/workspacePaths.ts';
import { DiskWorkspace } from '../../../support/diskWorkspace.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const temp = await TempFolder.create();
after(() => temp.remove());
beforeEach(() => rm(temp.at('project'), { recursive: true, force: true }));

class Project extends DiskWorkspace {
  readonly roots: readonly FolderRoot[] = [{ name: 'project', fsPath: temp.at('project') }];
  folders = () => this.roots;
  pathOf = (input: string): string => workspacePathOf(locate(input, this.roots), this.roots);
}

const warnings: string[] = [];
let trusted = true;
const reader = (): InstructionFiles =>
  new InstructionFiles(new Project(temp.at('project')), () => trusted, {
    ...silentLogger,
    warn: text => void warnings.push(text),
  });
const found = async (...workedOn: string[]): Promise<string[]> =>
  (await reader().read(workedOn)).map(({ path, text }) => `${path}: ${text}`);
const given = async (...files: string[]): Promise<void> => {
  for (const file of files) await temp.file(`project/${file}`, `of ${file}`);
};

test('without a file that is worked on, the instructions of the workspace folder count', async () => {
  await given('AGENTS.md', '.redline/instructions.md', 'src/AGENTS.md');
  assert.deepEqual(await found(), [
    'AGENTS.md: of AGENTS.md',
    '.redline/instructions.md: of .redline/instructions.md',
  ]);
});

test('those up the tree from the files that are worked on are added, the nearest last', async () => {
  await given('AGENTS.md', 'a/AGENTS.md', 'a/b/c/AGENTS.md', 'other/AGENTS.md', 'a/.redline/instructions.md');
  const expected = ['AGENTS.md', 'a/AGENTS.md', 'a/b/c/AGENTS.md'].map(file => `${file}: of ${file}`);
  assert.deepEqual(await found('a/b/c/x.ts', 'a/y.ts'), expected);
  assert.deepEqual(await found('a/y.ts', './a/../a/b/c/x.ts'), expected, 'whatever the order and spelling');
  assert.deepEqual(await found(temp.at('project/a/b/c/x.ts')), expected);
});

test('CLAUDE.md counts in a folder without AGENTS.md', async () => {
  await given('AGENTS.md', 'CLAUDE.md', 'a/CLAUDE.md');
  assert.deepEqual(await found('a/x.ts'), ['AGENTS.md: of AGENTS.md', 'a/CLAUDE.md: of a/CLAUDE.md']);
});

test('the paragraph for agents of other programs is left out, and a file with nothing else does not count', async () => {
  await temp.file('project/AGENTS.md', withParagraph('Be brief.\n'));
  assert.deepEqual(await found(), ['AGENTS.md: Be brief.\n']);
  await temp.file('project/AGENTS.md', withParagraph(''));
  await given('CLAUDE.md');
  assert.deepEqual(await found(), ['CLAUDE.md: of CLAUDE.md']);
  await temp.file('project/AGENTS.md', '<!-- redline -->\nno end\n');
  assert.deepEqual(await found(), ['AGENTS.md: <!-- redline -->\nno end\n']);
});

test('a workspace that is not trusted has none', async () => {
  await given('AGENTS.md', '.redline/instructions.md');
  trusted = false;
  try {
    assert.deepEqual(await found(), []);
  } finally {
    trusted = true;
  }
  assert.equal((await found()).length, 2);
});

test('a link inside the folder is followed and read once; one that leads outside is refused and logged once', async () => {
  await given('docs/rules.md', 'a/CLAUDE.md');
  await temp.file('secret.md', 'of another project');
  await temp.link('project/AGENTS.md', 'docs/rules.md');
  await temp.link('project/CLAUDE.md', 'docs/rules.md');
  await temp.link('project/b/AGENTS.md', '../docs/rules.md');
  await temp.link('project/a/AGENTS.md', temp.at('secret.md'));
  await temp.link('project/out', temp.root);
  await temp.file('AGENTS.md', 'of another project');
  warnings.length = 0;
  const files = reader();
  for (const _ of [1, 2])
    assert.deepEqual(
      (await files.read(['a/x', 'b/x', 'out/x', '../x', '/etc/x', ''])).map(({ text }) => text),
      ['of docs/rules.md'],
    );
  assert.equal(warnings.filter(text => text.includes('a/AGENTS.md')).length, 1);
  assert.match(warnings.join('\n'), /a\/AGENTS\.md are not used: .*outside the workspace/);

  await unlink(temp.at('project/AGENTS.md'));
  await symlink(temp.at('nowhere.md'), temp.at('project/AGENTS.md'));
  assert.deepEqual(await found(), [], 'a dangling link is no missing file');
});

test('a folder, a binary and a huge file are not used, and say so in the log', async () => {
  warnings.length = 0;
  await temp.folder('project/AGENTS.md');
  await temp.file('project/a/AGENTS.md', Uint8Array.of(0xff, 0, 0xfe, 0x81));
  await temp.file('project/b/AGENTS.md', 'x'.repeat(5 * 1024 * 1024 + 1));
  assert.deepEqual(await found('a/x', 'b/x'), []);
  assert.equal(warnings.length, 3);
});
