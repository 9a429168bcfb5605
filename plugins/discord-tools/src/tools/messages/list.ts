import type { ToolDefinition } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { deleteMessage } from './delete.js';
import { editMessage } from './edit.js';
import { listPins } from './list-pins.js';
import { pinMessage, unpinMessage } from './pin.js';
import { readMessage } from './read-message.js';
import { readMessages } from './read-messages.js';
import { searchMessages } from './search.js';
import { send } from './send.js';

export const messageTools = (parts: Parts): readonly ToolDefinition[] => [
  send(parts),
  readMessages(parts),
  readMessage(parts),
  searchMessages(parts),
  editMessage(parts),
  deleteMessage(parts),
  pinMessage(parts),
  unpinMessage(parts),
  listPins(parts),
];
