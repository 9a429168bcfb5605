import type { Receipt } from '@cinnabar/sdk';

export function receipt(given: Partial<Receipt> & Pick<Receipt, 'actor' | 'at'>): Receipt {
  return {
    id: '1',
    mind: 'chat',
    messageIds: ['500'],
    trigger: 'I was mentioned',
    model: 'claude-x',
    provider: 'anthropic',
    mode: 'chat',
    usage: {
      inputTokens: 100,
      outputTokens: 50,
      cacheCreationTokens: 30,
      cacheReadTokens: 820,
      cacheCreation1hTokens: 10,
    },
    calls: 2,
    cost: 0.0123,
    details: ['Read: 42 messages, about 950 tokens', 'Cache: asked about every 20 s: kept for 5 minutes'],
    tools: [{ name: 'roll_dice', outcome: 'done' }],
    ...given,
  };
}
