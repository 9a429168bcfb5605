import type { CacheControl, ParticipantMessage } from '@cinnabar/sdk';
import { expect } from 'chai';
import { cpuMsOf } from '../../support/cpu-time.js';
import { ask, DICE, from, openRoute, ROUTES } from './harness.js';

const PEOPLE = ['Ann', 'Bea', 'Cyd', 'Dee', 'Eve', 'Fay', 'Gus', 'Cinnabar'];
const HOUR: CacheControl = { type: 'ephemeral', ttl: '1h' };

/** 400 messages of eight participants, including the model, with 20 tool calls. */
function window(): readonly ParticipantMessage[] {
  return Array.from({ length: 400 }, (_, at): readonly ParticipantMessage[] => {
    const text = `Message ${at}: the usual length of what people say in a channel, now and then\nwith a second line.`;
    const marks = at === 200 || at === 398 ? { cacheControl: HOUR } : {};
    const said = { ...from(PEOPLE[at % PEOPLE.length] ?? '', text), ...marks };
    if (at % 20 !== 19) return [said];
    const use = { type: 'tool_use' as const, id: `call${at}`, name: 'roll_dice', input: { sides: at } };
    const result = { type: 'tool_result' as const, toolUseId: `call${at}`, content: `It is ${at}.` };
    return [said, from('Cinnabar', use), from('Cinnabar', result)];
  }).flat();
}

describe('llm speed', () => {
  for (const [route, mode] of [...ROUTES.map((each) => [each, 'chat'] as const), [ROUTES[4], 'prefill'] as const]) {
    // Bedrock has Anthropic's messages.
    if (!route.stream || route.provider === 'bedrock') continue;
    it(`writes 400 messages, 8 participants and 20 calls in milliseconds: ${route.route}, ${mode}`, async () => {
      await using harness = await openRoute(route, { model: 'claude-3-opus-20240229' });
      const request = ask(window(), { mode, tools: [DICE], cache: { system: HOUR } });
      const times: number[] = [];
      for (let round = 0; round < 60; round++) {
        times.push(await cpuMsOf(() => harness.llm.render(request)));
      }
      const median = times.slice(30).sort((one, other) => one - other)[15] ?? 0;
      // 0.25 to 0.7 ms on an idle machine; the limit is higher for a machine with other load.
      expect(median).to.be.below(4);
    });
  }
});
