import type { CommandHandlers } from './registerCommand.ts';
import type { SelectModelOptions } from './selectModel.ts';

/** Commands that choose who answers. Their code is loaded with their first use. */
export function modelCommands(options: SelectModelOptions): CommandHandlers {
  const load = () => import('./selectModel.ts');
  return {
    'redline.selectModel': async () => (await load()).selectModel(options),
    'redline.setApiKey': async () => (await load()).setApiKey(options),
  };
}
