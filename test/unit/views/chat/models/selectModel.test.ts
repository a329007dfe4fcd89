import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';

stub.useVscodeStub();
const { selectModel } = await import('../../../../../src/views/chat/models/selectModel.ts');

interface Row {
  readonly label: string;
}

test('after the base URL of a server was set, its first model is marked once it is listed, and Enter chooses it', async () => {
  const settings = {
    baseUrl: 'http://old/v1',
    model: '',
    languageModel: '',
    provider: 'auto',
    chosen: '',
    useModel: (name: string) => void (settings.chosen = name),
    useServer: (url: string) => void (settings.baseUrl = url),
  };
  const listModels = async () => ({ models: settings.baseUrl === 'http://new/v1' ? ['one', 'two'] : [] });
  const marked: string[] = [];
  let opened = 0;
  Object.assign(stub.window, {
    showInputBox: async () => 'http://new/v1',
    createQuickPick: () => {
      const isFirst = ++opened === 1;
      let accept = (): void => undefined;
      const pick = {
        items: [] as readonly Row[],
        activeItems: [] as readonly Row[],
        value: '',
        busy: true,
        selectedItems: [] as readonly Row[],
        onDidHide: () => ({ dispose: () => undefined }),
        onDidAccept: (listener: () => void) => {
          accept = listener;
          return { dispose: () => undefined };
        },
        dispose: () => undefined,
        show: () => undefined,
      };
      return new Proxy(pick, {
        set(target, name, value) {
          Reflect.set(target, name, value);
          if (name !== 'activeItems') return true;
          marked.push(pick.activeItems[0]?.label ?? '');
          const wanted = isFirst
            ? pick.items.find(({ label }) => label === 'Set Base URL…')
            : pick.activeItems[0];
          if (!isFirst && wanted?.label !== 'one') return true;
          pick.selectedItems = wanted ? [wanted] : [];
          setImmediate(() => accept());
          return true;
        },
      });
    },
  });
  const agent = { settings, providers: { isOffline: true, listModels }, keys: {}, logger: silentLogger };
  await selectModel(agent as never);
  assert.equal(settings.chosen, 'one');
  assert.equal(marked[0], 'Offline', 'before, the provider in use is marked');
});
