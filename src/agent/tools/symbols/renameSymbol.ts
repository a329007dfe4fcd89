import * as z from 'zod/mini';
import { textResult } from '../../preview/pendingAction.ts';
import { titleSchema } from '../titles.ts';
import { defineTool, type Tool } from '../tool.ts';
import { nameSchema, symbolFields, type SymbolPorts } from './symbolsTool.ts';

/** `rename_symbol`: stages what a language service of VS Code would change to rename a symbol. */
export function renameSymbolTool({ services: load, files, isAvailable }: SymbolPorts): Tool {
  return defineTool({
    name: 'rename_symbol',
    label: 'Rename Symbol',
    description:
      'Propose to rename the symbol `name`, wherever it is used, as language services do. Stages a preview.',
    parameters: z.object({
      ...symbolFields,
      name: nameSchema,
      newName: nameSchema,
      title: titleSchema,
    }),
    isEnabled: isAvailable,
    async execute(query, context) {
      const { stageRename } = await import('./stageRename.ts');
      return textResult(await stageRename(query, await load(), files, context));
    },
  });
}
