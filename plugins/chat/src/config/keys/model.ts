import { z } from '@cinnabar/sdk';
import { key } from './key.js';

const modelName = z.string().trim().min(1).max(200);

export const MODES = ['chat', 'prefill'] as const;
export const CACHE_CHOICES = ['auto', 'off', '5m', '1h'] as const;

export const modelKeys = {
  mode: key(
    {
      scope: 'channel',
      description:
        'chat: roles of user and assistant. prefill: one text that the model goes on with; models that refuse it get chat',
    },
    z.enum(MODES).default('chat'),
  ),
  continuationModel: key(
    {
      scope: 'channel',
      description: 'The model that answers; by default that of `llm`. Admins and pins choose among `allowedModels`',
    },
    modelName.optional(),
  ),
  allowedModels: key(
    {
      scope: 'files',
      description: 'Models that admins and pins may choose; `*` stands for any text: `claude-*-haiku-*`',
    },
    z.array(modelName).max(100).default([]),
  ),
  fallbackModels: key(
    { scope: 'files', description: 'Models to try in order when the first cannot answer' },
    z.array(modelName).max(10).default([]),
  ),
  temperature: key(
    {
      scope: 'channel',
      description: "How much the model varies its words; by default the model's own. Ignored where a model refuses it",
    },
    z.number().min(0).max(2).optional(),
  ),
  topP: key(
    {
      scope: 'channel',
      description: "Share of the likeliest words that the model chooses from; by default the model's own",
    },
    z.number().min(0).max(1).optional(),
  ),
  maxTokens: key(
    { scope: 'channel', lowerOnly: true, description: 'The longest answer, in tokens' },
    z.int().min(16).max(1_000_000).default(4_096),
  ),
  stopSequences: key(
    { scope: 'channel', description: 'Texts at which the model stops, beside the names of the participants' },
    z.array(z.string().min(1).max(200)).max(16).default([]),
  ),
  streaming: key(
    { scope: 'channel', description: 'Whether the answer grows in Discord while the model writes, an edit a second' },
    z.boolean().default(false),
  ),
  llmRetries: key(
    { scope: 'channel', lowerOnly: true, description: 'How often a failed request to the model is repeated' },
    z.int().min(0).max(10).default(3),
  ),
  llmTimeoutMs: key(
    { scope: 'guild', lowerOnly: true, description: 'How long one request to the model may take, in milliseconds' },
    z.int().min(1_000).max(3_600_000).default(120_000),
  ),
  cache: key(
    {
      scope: 'guild',
      description:
        'How long providers keep the beginning of the conversation: 5m, 1h, off, or auto, which goes by the rhythm of the channel',
    },
    z.enum(CACHE_CHOICES).default('auto'),
  ),
};
