import type { ToolDefinition } from '@cinnabar/sdk';
import type { Parts } from '../parts.js';
import { inWords } from '../reaching/discord-errors.js';
import { channelTools } from './channels/list.js';
import { forumTools } from './forums/list.js';
import { memberTools } from './members/list.js';
import { messageTools } from './messages/list.js';
import { reactionTools } from './reactions/list.js';
import { roleTools } from './roles/list.js';
import { serverTools } from './servers/list.js';
import { threadTools } from './threads/list.js';
import { webhookTools } from './webhooks/list.js';

/** Every tool of the plugin. */
export const allTools = (parts: Parts): readonly ToolDefinition[] =>
  [
    ...messageTools(parts),
    ...reactionTools(parts),
    ...serverTools(parts),
    ...channelTools(parts),
    ...threadTools(parts),
    ...forumTools(parts),
    ...webhookTools(parts),
    ...roleTools(parts),
    ...memberTools(parts),
  ].map(speaking);

/** A tool whose refusals by Discord read as sentences. */
function speaking(definition: ToolDefinition): ToolDefinition {
  const { place } = definition;
  return {
    ...definition,
    ...(place === undefined ? {} : { place: (input) => inWords(() => place(input)) }),
    run: (input, context) => inWords(() => definition.run(input, context)),
  };
}
