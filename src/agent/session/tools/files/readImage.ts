import { ToolError } from '../../../base/errors.ts';
import { textResult, type AgentToolResult } from '../../../hold/preview/pendingAction.ts';
import { asIfApplied } from '../../../hold/preview/textFile.ts';
import { imageTypeOf } from '../../model/images.ts';
import { MAX_IMAGE_BYTES } from '../../model/messages.ts';
import type { ToolContext } from '../tool.ts';

/** Shows an image to the model; `undefined` if the file holds none. */
export async function readImage(
  path: string,
  { workspace, pending, showImage }: ToolContext,
): Promise<AgentToolResult | undefined> {
  const bytes = await workspace.read(path);
  const type = bytes && imageTypeOf(bytes);
  if (!type) return undefined;
  if (bytes.length > MAX_IMAGE_BYTES)
    throw new ToolError(`${path} is an image of more than 5 MB, which cannot be shown.`);
  if (!(await showImage?.(bytes))) throw new ToolError(`${path} is an image, which cannot be shown here.`);
  return textResult(`${path}: an image (${type}, ${bytes.length} bytes)${asIfApplied(pending, path)}.`);
}
