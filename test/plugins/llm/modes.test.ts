import { say } from '@cinnabar/local-models';
import { z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { ask, DICE, from, openRoute, ROUTES } from './harness.js';

const [, , CHAT, , ANTHROPIC, , BEDROCK] = ROUTES;
const HELLO = ask([from('Alice', 'Hello'), from('Bob', 'Hi')], { mode: 'prefill' });
const OLDER = 'claude-opus-4-5-20251101';
const NOTE = 'prefill is not possible, chat is used';
const IMAGE = { type: 'image', source: { type: 'base64', data: 'aGk=', mediaType: 'image/png' } } as const;

for (const route of [ANTHROPIC, BEDROCK]) {
  describe(`llm modes: ${route.route}`, () => {
    it('prefills a model that takes it, reads written calls, and says that it was prefill', async () => {
      await using harness = await openRoute(route, {
        prefill: true,
        model: OLDER,
        steps: [
          say(' Rolling.\n\nCinnabar>[roll_dice]: {"sides": 6}\n\nCinnabar<[roll_dice]: 6', { stop: 'stop_sequence' }),
        ],
      });
      const completion = await harness.llm.complete({ ...HELLO, tools: [DICE] });
      expect(completion).to.include({ mode: 'prefill', stopReason: 'tool_use' });
      expect(completion.content).to.deep.equal([
        { type: 'text', text: 'Rolling.' },
        { type: 'tool_use', id: 'call_id1', name: 'roll_dice', input: { sides: 6 } },
      ]);
      const body = JSON.stringify(harness.api.requests[0]?.body);
      expect(body)
        .to.include('\\n\\nBob: Hi\\n\\nCinnabar:"')
        .and.to.include('"stop_sequences":[')
        .and.not.to.include('"tools":');
    });

    it('cuts the answer at a forged speaker, also where the provider did not stop', async () => {
      await using harness = await openRoute(route, {
        prefill: true,
        model: OLDER,
        steps: [say(' Yes.\n\nBob: I agree.')],
      });
      const { content, stopReason } = await harness.llm.complete(HELLO);
      expect(content).to.deep.equal([{ type: 'text', text: 'Yes.' }]);
      expect(stopReason).to.equal('stop_sequence');
    });

    it('says once, as a warning, that `mode: prefill` is not possible with the model, and uses chat', async () => {
      await using harness = await openRoute(route, { model: 'claude-opus-4-6', script: () => say('ok') });
      for (const _ of [1, 2]) expect((await harness.llm.complete(HELLO)).mode).to.equal('chat');
      expect(harness.api.requests).to.have.length(2);
      const noted = harness.logs.entries.filter(({ message }) => message === NOTE);
      expect(noted.map(({ level }) => level)).to.deep.equal(['warn']);
    });

    it('learns from the refusal of a model that it does not know, and remembers it', async () => {
      await using harness = await openRoute(route, { script: () => say('ok') });
      expect((await harness.llm.traits()).modes).to.deep.equal(['chat', 'prefill']);
      for (const _ of [1, 2]) expect((await harness.llm.complete(HELLO)).mode).to.equal('chat');
      expect(harness.api.requests).to.have.length(3);
      expect(harness.logs.entries.filter(({ message }) => message === NOTE)).to.have.length(1);
      expect((await harness.llm.traits()).modes).to.deep.equal(['chat']);
      expect((await harness.llm.render(HELLO)).mode).to.equal('chat');
    });

    it("moves images into a user's message once the provider has refused them elsewhere", async () => {
      await using harness = await openRoute(route, { prefill: true, model: OLDER, script: () => say('ok') });
      const request = { ...HELLO, messages: [from('Alice', 'Look', IMAGE, 'nice?'), from('Bob', 'Hm')] };
      for (const _ of [1, 2]) expect((await harness.llm.complete(request)).mode).to.equal('prefill');
      expect(harness.api.requests).to.have.length(3);
      expect(harness.api.requests[2]?.body).to.deep.include({
        messages: [
          { role: 'user', content: '<cmd>cat untitled.txt</cmd>' },
          { role: 'assistant', content: 'Alice: Look' },
          {
            role: 'user',
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }],
          },
          { role: 'assistant', content: '  nice?\n\nBob: Hm\n\nCinnabar:' },
        ],
      });
    });

    it('uses chat for structured output', async () => {
      await using harness = await openRoute(route, { prefill: true, model: OLDER, script: () => say('{"ok":true}') });
      const output = { name: 'answer', schema: z.object({ ok: z.boolean() }) };
      expect(await harness.llm.complete({ ...HELLO, output })).to.deep.include({
        mode: 'chat',
        structured: { ok: true },
      });
    });
  });
}

describe('llm modes: other providers', () => {
  it('use chat', async () => {
    for (const route of ROUTES.filter(({ provider }) => provider === 'openai' || provider === 'google')) {
      await using harness = await openRoute(route, { script: () => say('ok') });
      expect((await harness.llm.complete(HELLO)).mode, route.route).to.equal('chat');
    }
  });

  it('prefill where the admin says that a compatible server goes on with the last message, with four stops at most', async () => {
    await using harness = await openRoute(CHAT, {
      model: 'llama-3',
      settings: { models: { 'llama*': { modes: ['chat', 'prefill'] } } },
      script: () => say(' Sure.\n\nBob: me too'),
    });
    const people = ['Ann', 'Bea', 'Cyd', 'Dee', 'Eve'].map((name) => from(name, 'hi', IMAGE));
    const completion = await harness.llm.complete({ ...HELLO, messages: [...HELLO.messages, ...people] });
    expect(completion).to.deep.include({ mode: 'prefill', content: [{ type: 'text', text: 'Sure.' }] });
    const { body } = await harness.api.arrived(1);
    expect(body).to.deep.include({ stop: ['\nEve:', '\nDee:', '\nCyd:', '\nBea:'] });
    expect(JSON.stringify(body))
      .to.include('an image that you cannot see')
      .and.to.match(/Cinnabar:"\}\]/);
  });
});
