import { z } from '@cinnabar/sdk';
import { key } from './key.js';

export const contextKeys = {
  recencyWindow: key(
    { scope: 'channel', lowerOnly: true, description: 'How many of the last messages of the channel the model reads' },
    z.int().min(1).max(10_000).default(400),
  ),
  rollingThreshold: key(
    {
      scope: 'channel',
      lowerOnly: true,
      description:
        'How many messages the window may grow beyond that before its beginning is cut off, never more; by default what is cheapest, at most to twice the window',
    },
    z.int().min(1).max(10_000).optional(),
  ),
  maxContextTokens: key(
    {
      scope: 'channel',
      lowerOnly: true,
      description: 'Tokens of context at which its beginning is cut off, however few messages that are',
    },
    z.int().min(1_000).max(2_000_000).default(100_000),
  ),
  truncateToTokens: key(
    {
      scope: 'channel',
      lowerOnly: true,
      description: 'What it is then cut down to, at most 9 tenths of `maxContextTokens`; by default 6 tenths',
    },
    z.int().min(500).max(2_000_000).optional(),
  ),
  historyRoles: key(
    {
      scope: 'guild',
      description: 'Ids or names of the roles that may use `.history`, beside members who may manage messages',
    },
    z.array(z.string('must be text: put the id in quotes').trim().min(1).max(100)).max(50).default([]),
  ),
  includeImages: key(
    { scope: 'channel', lowerOnly: true, description: 'Whether the model sees images' },
    z.boolean().default(true),
  ),
  maxImages: key(
    { scope: 'channel', lowerOnly: true, description: 'How many images the model sees, the newest first' },
    z.int().min(0).max(100).default(5),
  ),
  imageMaxBytes: key(
    { scope: 'guild', lowerOnly: true, description: 'The largest image that the model is shown, in bytes' },
    z.int().min(1_000).max(50_000_000).default(3_750_000),
  ),
  imageMaxTotalBytes: key(
    { scope: 'guild', lowerOnly: true, description: 'All images of one request together, in bytes' },
    z.int().min(1_000).max(200_000_000).default(15_000_000),
  ),
  maxTextFiles: key(
    {
      scope: 'channel',
      lowerOnly: true,
      description: 'Of how many attached text files (`message.txt`, code) the model reads the text, the newest first',
    },
    z.int().min(0).max(50).default(5),
  ),
  textFileMaxBytes: key(
    {
      scope: 'channel',
      lowerOnly: true,
      description: 'How much of one attached text file the model reads, in bytes from its beginning',
    },
    z.int().min(100).max(1_000_000).default(20_000),
  ),
};
