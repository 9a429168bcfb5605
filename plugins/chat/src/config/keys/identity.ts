import { z } from '@cinnabar/sdk';
import { key } from './key.js';

const name = z
  .string()
  .trim()
  .regex(/^[^\p{Cc}\p{Cf}:<>[\]]{1,32}$/u, 'must be one line of 1 to 32 characters without : < > [ ]');

export const identityKeys = {
  name: key(
    { scope: 'guild', description: "The bot's name, which `.config NAME` pins go by; by default its name on Discord" },
    name.optional(),
  ),
  innerName: key(
    { scope: 'guild', description: 'The name by which the model knows itself; by default `name`' },
    name.optional(),
  ),
  instructions: key(
    {
      scope: 'channel',
      description: 'Added to what the model is told about itself: tone, rules of the server, language',
    },
    z.string().max(20_000).optional(),
  ),
  systemPrompt: key(
    { scope: 'guild', description: 'Replaces what the model is told about itself; `instructions` are still added' },
    z.string().max(50_000).optional(),
  ),
};
