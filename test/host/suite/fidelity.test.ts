import * as assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../../src/views/api.ts';
import { activateRedline, bytesOf, cleanUp, fileInWorkspace, givenFile } from '../support/redline.ts';

const hex = (digits: string): Buffer => Buffer.from(digits.replaceAll(' ', ''), 'hex');
const swapped = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();

/** What stands around the edit; `sure` becomes `really`, in what the workspace's `files.encoding` is. */
interface Case {
  readonly what: string;
  readonly encoding?: string;
  readonly before: Buffer;
  readonly after: Buffer;
}

const around = (what: string, head: string | Buffer, tail: string | Buffer, encoding?: string): Case => {
  const whole = (middle: string): Buffer =>
    Buffer.concat([Buffer.from(head), Buffer.from(middle), Buffer.from(tail)]);
  return { what, before: whole('sure'), after: whole('really'), ...(encoding ? { encoding } : {}) };
};

const cases: readonly Case[] = [
  around('UTF-8 with a byte order mark', '\ufeffé ', ' ü\n'),
  around('UTF-8 with a mark where the workspace has Latin-1', '\ufeffé ', ' ü\n', 'iso88591'),
  {
    what: 'UTF-16 little endian, known by its mark',
    before: Buffer.from('\ufeffé sure 日本\r\n', 'utf16le'),
    after: Buffer.from('\ufeffé really 日本\r\n', 'utf16le'),
  },
  {
    what: 'UTF-16 big endian as the workspace sets it',
    encoding: 'utf16be',
    before: swapped('\ufeffone\nsure 𝒳\n'),
    after: swapped('\ufeffone\nreally 𝒳\n'),
  },
  around('Latin-1', hex('e9 80 9f ff 20'), hex('20 fc 0a'), 'iso88591'),
  around('Windows-1252', hex('93 80 85 20'), hex('20 94'), 'windows1252'),
  around('Shift-JIS', hex('93 fa 96 7b 5c 20 b1 0d 0a'), hex('20 83 5c 83 65 0a'), 'shiftjis'),
  around('EUC-JP', hex('c6 fc cb dc 20'), hex('20 8e b1 0a'), 'eucjp'),
  around('GBK', hex('d6 d0 ce c4 20'), hex('20 b9 fa 0a'), 'gbk'),
  around('Big5', hex('a4 a4 a4 e5 20'), hex('20 a4 5c 0a'), 'cp950'),
  around('GB 18030', hex('d6 d0 81 30 84 36 20'), hex('20 94 39 da 33 0a'), 'gb18030'),
  around('EUC-KR, with a syllable of the extended set', hex('81 41 20'), hex('20 c7 d1 0a'), 'euckr'),
  around('Big5 with its Hong Kong characters', hex('87 40 20'), hex('20 a4 5c 0a'), 'big5hkscs'),
  around('CP 850', hex('84 20'), hex('20 81 0a'), 'cp850'),
  around('ISO 8859-9', hex('fd 20'), hex('20 de 0a'), 'iso88599'),
  around('KOI8-R', hex('f0 d2 c9 20'), hex('20 d7 c5 d4 0a'), 'koi8r'),
  around('CRLF', 'one\r\n', ' three\r\nfour\r\n'),
  around('line endings of all kinds', 'one\r\ntwo\nthree\rfour ', ' five\r\n\r\n\n\rsix\n'),
  around('no line feed at the end', 'one\n', ''),
  around('white space at the ends of lines', 'one \t\n', '  \n \n\t'),
];

suite('fidelity: byte for byte outside the edit', () => {
  let api: RedlineApi;
  let n = 0;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(async () => {
    await cleanUp(api);
    await setEncoding(undefined);
  });

  const setEncoding = (encoding: string | undefined): Thenable<void> =>
    vscode.workspace
      .getConfiguration('files')
      .update('encoding', encoding, vscode.ConfigurationTarget.Global);

  /** What the preview serves as the proposal, and as what it was made on. */
  const shown = async (id: string, relative: string): Promise<{ proposal: Buffer; base: Buffer }> => {
    const { path } = vscode.Uri.file(fileInWorkspace(relative));
    const uri = vscode.Uri.from({ scheme: 'redline-preview', authority: id, path });
    const read = async (each: vscode.Uri): Promise<Buffer> =>
      Buffer.from(await vscode.workspace.fs.readFile(each));
    return { proposal: await read(uri), base: await read(uri.with({ query: 'base' })) };
  };

  /** A mark that the file has is there, and one that it does not have only where a setting would have the text decoded otherwise. */
  const asShown = async (bytes: Buffer, encoding = 'utf8'): Promise<Buffer> => {
    if (/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/.test(bytes.toString('latin1'))) return bytes;
    const text = await vscode.workspace.decode(bytes, { encoding });
    return Buffer.from(encoding === 'utf8' ? text : `\ufeff${text}`);
  };

  test('the editor of a proposal has the encoding of its file, as the status bar says', async () => {
    for (const [path, content, encoding] of [
      ['plain.txt', 'one sure\n', 'utf8'],
      ['marked.txt', '\ufeffone sure\n', 'utf8bom'],
      ['wide.txt', Buffer.from('\ufeffone sure\n', 'utf16le'), 'utf16le'],
    ] as const) {
      await givenFile(path, content);
      await api.session.prompt(`/edit ${path} :: sure => really`);
      const named = api.previews.list().find(({ label }) => label.includes(path));
      const { id } = named ?? assert.fail('a preview is pending');
      await vscode.commands.executeCommand('redline.preview.open', id);
      const documents = vscode.workspace.textDocuments.filter(({ uri }) => uri.authority === id);
      assert.deepEqual(
        documents.map(document => document.encoding),
        [encoding, encoding],
      );
    }
  });

  for (const isOpen of [false, true]) {
    for (const { what, encoding, before, after } of cases) {
      test(`${what}${isOpen ? ', open in an editor' : ''}`, async () => {
        await setEncoding(encoding);
        // A name of its own: an editor that was closed may live on for a moment, in the encoding that it had.
        const file = `exact${n++}.txt`;
        await givenFile(file, before);
        if (isOpen) await vscode.window.showTextDocument(vscode.Uri.file(fileInWorkspace(file)));
        await api.session.prompt(`/edit ${file} :: sure => really`);
        const { id } = api.previews.peek() ?? assert.fail('a preview is pending');
        const { proposal, base } = await shown(id, file);
        assert.deepEqual(base, await asShown(before, encoding));
        assert.deepEqual(proposal, await asShown(after, encoding));
        await api.previews.resolve({ id, action: 'apply', reason: 'test' });
        assert.deepEqual(await bytesOf(file), after);
      });
    }
  }

  test('an empty file gets exactly what was proposed, and becomes empty again', async () => {
    await givenFile('empty.txt', '');
    await api.session.prompt('/write empty.txt :: one\r\ntwo');
    await api.previews.resolve({ action: 'apply', reason: 'test' });
    assert.equal((await bytesOf('empty.txt')).toString(), 'one\r\ntwo');
    await api.session.prompt('/write empty.txt ::');
    await api.previews.resolve({ action: 'apply', reason: 'test' });
    assert.equal((await bytesOf('empty.txt')).length, 0);
  });

  test('a new file is written in the encoding of the workspace', async () => {
    await setEncoding('shiftjis');
    await api.session.prompt('/write fresh.txt :: 日本\n');
    await api.previews.resolve({ action: 'apply', reason: 'test' });
    const file = fileInWorkspace('fresh.txt');
    assert.deepEqual(await readFile(file), hex('93 fa 96 7b 0a'));
    await vscode.workspace.fs.delete(vscode.Uri.file(file));
  });

  test('an edit in an editor with unsaved changes leaves every other character, and so does saving', async () => {
    await setEncoding('euckr');
    const file = 'korean.txt';
    await givenFile(file, hex('81 41 20 73 75 72 65'));
    const document = await vscode.workspace.openTextDocument(fileInWorkspace(file));
    const editor = await vscode.window.showTextDocument(document);
    await editor.edit(edit => edit.insert(new vscode.Position(0, 0), '한 '));
    await api.session.prompt(`/edit ${file} :: sure => really`);
    await api.previews.resolve({ action: 'apply', reason: 'test' });
    assert.equal(document.getText(), '한 갂 really');
    assert.equal(document.isDirty, true);
    await document.save();
    assert.deepEqual(await bytesOf(file), Buffer.concat([hex('c7 d1 20 81 41 20'), Buffer.from('really')]));
  });

  test('an encoding that the workspace sets for one language', async () => {
    const set = (encoding: string | undefined): Thenable<void> =>
      vscode.workspace
        .getConfiguration('files', { languageId: 'plaintext' })
        .update('encoding', encoding, vscode.ConfigurationTarget.Global, true);
    await set('koi8r');
    try {
      await givenFile('language.txt', hex('f0 d2 c9 20 73 75 72 65'));
      await api.session.prompt('/edit language.txt :: При sure => Да');
      await api.previews.resolve({ action: 'apply', reason: 'test' });
      assert.deepEqual(await bytesOf('language.txt'), hex('e4 c1'));
    } finally {
      await set(undefined);
    }
  });

  test('an encoding in which a person reopened the file', async () => {
    const before = hex('e9 0a 73 75 72 65 0a');
    await givenFile('reopened.txt', before);
    const uri = vscode.Uri.file(fileInWorkspace('reopened.txt'));
    const document = await vscode.workspace.openTextDocument(uri, { encoding: 'iso88591' });
    await vscode.window.showTextDocument(document);
    await api.session.prompt('/edit reopened.txt :: sure => really');
    const { id } = api.previews.peek() ?? assert.fail('a preview is pending');
    const { proposal, base } = await shown(id, 'reopened.txt');
    assert.equal(base.toString(), 'é\nsure\n');
    assert.equal(proposal.toString(), 'é\nreally\n');
    await api.previews.resolve({ id, action: 'apply', reason: 'test' });
    assert.deepEqual(await bytesOf('reopened.txt'), Buffer.concat([hex('e9 0a'), Buffer.from('really\n')]));
  });

  test('what the encoding of the file cannot hold is refused, and nothing is staged', async () => {
    await setEncoding('iso88591');
    await givenFile('latin.txt', hex('e9 20 73 75 72 65'));
    await api.session.prompt('/edit latin.txt :: sure => 日本');
    assert.equal(api.previews.hasPending, false);
    const result = api.session.messages().findLast(message => message.role === 'tool');
    assert.match(result?.content ?? '', /latin\.txt is stored in iso88591, which cannot represent "日"/);
  });

  test('a new file gets the line ending that the setting says, and that of the files beside it', async () => {
    const written = async (name: string): Promise<string> => {
      await givenFile(name, ''); // so that it is removed in the end
      await rm(fileInWorkspace(name));
      await api.session.prompt(`/write ${name} :: one\ntwo\n`);
      await api.previews.resolve({ action: 'apply', reason: 'test' });
      return (await bytesOf(name)).toString();
    };
    const set = (eol: string | undefined): Thenable<void> =>
      vscode.workspace.getConfiguration('files').update('eol', eol, vscode.ConfigurationTarget.Global);
    await givenFile('beside.odd', 'a\r\nb\r\n');
    assert.match(await written('new.odd'), /^one\r\ntwo/);
    await set('\n');
    try {
      assert.match(await written('set.odd'), /^one\ntwo/);
    } finally {
      await set(undefined);
    }
  });
});
