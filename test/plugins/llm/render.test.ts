import { say } from '@cinnabar/local-models';
import { expect } from 'chai';
import { ask, DICE, from, openRoute, ROUTES } from './harness.js';

const IMAGE = { type: 'image', source: { type: 'base64', data: 'aGk=', mediaType: 'image/png' } } as const;

for (const route of ROUTES) {
  describe(`llm render: ${route.route}`, () => {
    it('shows exactly the body that is sent, and sends nothing', async () => {
      await using harness = await openRoute(route, {
        script: () => say('ok'),
        settings: { temperature: 0.5, maxTokens: 500 },
      });
      const use = { type: 'tool_use' as const, id: 'a', name: 'roll_dice', input: { sides: 6 } };
      const result = { type: 'tool_result' as const, toolUseId: 'a', content: 'four', isError: true };
      const request = ask(
        [
          { ...from('Alice', 'roll', IMAGE), cacheControl: { type: 'ephemeral', ttl: '1h' } as const },
          from('Cinnabar', 'Rolling.', use),
          from('Bob', 'go'),
          from('Cinnabar', result),
        ],
        { system: 'Be kind.', tools: [DICE], stopSequences: ['END'], topP: 0.9, model: 'claude-3-opus-20240229' },
      );
      const rendered = await harness.llm.render(request);
      expect(harness.api.requests).to.have.length(0);
      expect(rendered).to.include({ provider: route.provider, model: 'claude-3-opus-20240229', mode: 'chat' });
      await harness.llm.complete(request);
      expect(JSON.parse(JSON.stringify(rendered.body))).to.deep.equal(harness.api.requests[0]?.body);
    });
  });
}
