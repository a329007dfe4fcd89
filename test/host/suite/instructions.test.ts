import * as assert from 'node:assert/strict';
import { mkdir, rm } from 'node:fs/promises';
import type { RedlineApi } from '../../../src/views/api.ts';
import { connect } from '../support/connect.ts';
import { activateRedline, cleanUp, fileInWorkspace, givenFile } from '../support/redline.ts';

suite('the instructions of the project', () => {
  let api: RedlineApi;

  suiteSetup(async () => {
    api = await activateRedline();
  });

  teardown(() => cleanUp(api));

  test('those of the workspace folder and up the tree from a file that is read reach the model, and a change the next request, below the same system prompt', async () => {
    await mkdir(fileInWorkspace('guided'), { recursive: true });
    await givenFile('AGENTS.md', 'Answer in Latin.');
    await givenFile('guided/CLAUDE.md', 'Here, in Greek.');
    await givenFile('guided/a.txt', 'x');
    const server = await connect([
      { toolCalls: [{ name: 'read_file', arguments: { path: 'guided/a.txt' } }] },
      { text: 'χαῖρε' },
      { text: 'Good day.' },
    ]);
    try {
      await api.session.prompt('Greet me.');
      await givenFile('AGENTS.md', 'Answer in English.');
      await api.session.prompt('Again.');
      const requests = server.requests.map(({ body }) => body.messages.map(each => JSON.stringify(each)));
      assert.equal(new Set(requests.map(([system]) => system)).size, 1);
      assert.deepEqual(
        requests.map(messages =>
          ['Latin', 'Greek', 'English'].filter(language => messages.join('\n').includes(`in ${language}.`)),
        ),
        [['Latin'], ['Latin', 'Greek'], ['Latin', 'Greek', 'English']],
      );
    } finally {
      await server.close();
      await rm(fileInWorkspace('guided'), { recursive: true });
    }
  });
});
