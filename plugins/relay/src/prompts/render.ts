import type { Batch, RelayEvent } from '../types.js';
import { directMessage } from './direct.js';
import type { Reader } from './parts.js';
import { serverMessage } from './server.js';
import { severalMessages } from './several.js';
import { type Guidance, guidance } from './tools.js';
import { unasked } from './unasked.js';

/**
 * The prompt for a batch, as it is sent: sections parted by an empty line. Nothing that a member has written
 * or is called can make a line that passes for one of its own.
 */
export function renderPrompt(batch: Batch, options: Guidance): string {
  const reader: Reader = { readable: options.tools.has('discord_read_messages') };
  const [first] = batch;
  const sections = batch.length === 1 ? single(first, reader) : severalMessages(batch, reader);
  return [...sections, ...guidance(options, first.guildId === null)].join('\n\n');
}

function single(event: RelayEvent, reader: Reader): readonly string[] {
  const { kind } = event;
  if (kind === 'reaction' || kind === 'digest' || kind === 'wake') return unasked(event, kind, reader);
  return event.guildId === null ? directMessage(event, reader) : serverMessage(event, reader);
}
