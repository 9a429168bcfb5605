import { z } from '@cinnabar/sdk';
import { key } from './key.js';

export const behaviourKeys = {
  toolsEnabled: key(
    { scope: 'channel', lowerOnly: true, description: 'Whether the model is offered tools' },
    z.boolean().default(true),
  ),
  toolsOnDemand: key(
    {
      scope: 'guild',
      description:
        'Plugins whose tools the model is given only when it looks for one, beside those that not every member may use; always given, tools cost tokens with every answer',
    },
    z.array(z.string('must be text').trim().min(1).max(64)).max(50).default(['discord-tools']),
  ),
  toolOutputVisible: key(
    { scope: 'channel', description: 'Whether the channel sees calls of tools and their results' },
    z.boolean().default(false),
  ),
  // Eight rounds are enough for what people ask; a hundred, as in other bots of this family, is for the owner to choose.
  maxToolDepth: key(
    {
      scope: 'channel',
      lowerOnly: true,
      description: 'How many rounds of tool calls one answer may take; 0 offers no tools',
    },
    z.int().min(0).max(100).default(8),
  ),
  replyOnRandom: key(
    {
      scope: 'channel',
      description:
        'How often it answers unasked: 0 never, up to 1 that share of all messages, above 1 one message in that many',
    },
    z.number().min(0).max(1_000_000).default(0),
  ),
  replyOnName: key(
    { scope: 'channel', description: 'Whether it answers messages that contain its name' },
    z.boolean().default(false),
  ),
  maxQueuedReplies: key(
    {
      scope: 'channel',
      lowerOnly: true,
      description: 'How many answers may wait in a channel; what comes on top is not answered',
    },
    z.int().min(1).max(100).default(5),
  ),
  botChainLength: key(
    {
      scope: 'channel',
      lowerOnly: true,
      description: 'How many answers of bots in a row it goes along with; 0 never answers a bot',
    },
    z.int().min(0).max(50).default(3),
  ),
  discordBackoffMax: key(
    {
      scope: 'files',
      description: 'The longest pause before Discord is tried again, in milliseconds: 1 s, 2 s, 4 s and so on',
    },
    z.int().min(1_000).max(600_000).default(32_000),
  ),
};
