import { callTool, callToolRaw, callTools, fail, refuse, say } from '@cinnabar/local-models';
import { type LlmCompletion, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { cpuMsOf } from '../../support/cpu-time.js';
import { ask, DICE, from, openRoute, ROUTES } from './harness.js';

const HELLO = ask([from('Alice', 'Hello!')]);

function textOf(completion: LlmCompletion): string {
  return completion.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
}

for (const route of ROUTES) {
  describe(`llm: ${route.route}`, () => {
    it('answers with text, stop reason, model and usage, cached tokens counted apart', async () => {
      const usage = { inputTokens: 1000, outputTokens: 7, cacheReadTokens: 600 };
      await using harness = await openRoute(route, { steps: [say('Hi, Alice – 你好 🎉', { usage })] });
      const completion = await harness.llm.complete(HELLO);
      expect(textOf(completion)).to.equal('Hi, Alice – 你好 🎉');
      expect(completion).to.include({ stopReason: 'end_turn', model: 'stand-in', provider: route.provider });
      expect(completion.usage).to.include({ inputTokens: 400, outputTokens: 7, cacheReadTokens: 600 });
    });

    it('sends the conversation with speakers, the system prompt, and what was asked of the model', async () => {
      await using harness = await openRoute(route, { script: () => say('ok') });
      await harness.llm.complete(
        ask([from('Alice', 'Hey'), from('Bob', 'Hi')], { system: 'Be kind.', maxTokens: 99, model: 'other' }),
      );
      const { prompt, body, hasKey, path } = await harness.api.arrived(1);
      expect(prompt.text).to.equal('Alice: Hey\nBob: Hi');
      expect(prompt.system).to.match(/^Be kind\.\n/);
      expect(prompt.model).to.equal('other');
      expect(JSON.stringify(body)).to.match(/tokens":99/i);
      const streamed = JSON.stringify(body).includes('"stream":true') || /stream/i.test(path);
      expect(streamed).to.equal(route.stream);
      expect(hasKey).to.equal(true);
    });

    it('brings a tool call back with its arguments, and the result to the model', async () => {
      await using harness = await openRoute(route, {
        steps: [callTools([{ name: 'roll_dice', arguments: { sides: 20, times: 2 } }], { text: 'Rolling.' })],
        script: ({ results }) => say(`I got ${results.join()}`),
      });
      const messages = [from('Alice', 'roll')];
      const first = await harness.llm.complete(ask(messages, { tools: [DICE] }));
      expect(first.stopReason).to.equal('tool_use');
      expect(textOf(first)).to.equal('Rolling.');
      const call = first.content.find((block) => block.type === 'tool_use');
      expect(call).to.deep.include({ name: 'roll_dice', input: { sides: 20, times: 2 } });
      if (call === undefined) return;

      const result = { type: 'tool_result' as const, toolUseId: call.id, content: '17 and 3' };
      const second = await harness.llm.complete(
        ask([...messages, from('Cinnabar', 'Rolling.', call), from('Bob', 'ooh'), from('Cinnabar', result)], {
          tools: [DICE],
        }),
      );
      expect(second.stopReason).to.equal('end_turn');
      expect(harness.api.requests[1]?.prompt.tools).to.deep.equal(['roll_dice']);
      expect(JSON.stringify(harness.api.requests[1]?.body)).to.include('17 and 3');
    });

    it('accepts a history in which a call has no result, a result has no call, and ids are strange or used twice', async () => {
      await using harness = await openRoute(route, { script: () => say('ok') });
      const use = (id: string) => ({ type: 'tool_use' as const, id, name: 'no such.tool', input: {} });
      const result = (toolUseId: string) => ({ type: 'tool_result' as const, toolUseId, content: 'done' });
      const completion = await harness.llm.complete(
        ask([
          from('Cinnabar', 'I begin.'),
          from('Cinnabar', use('a:b/c'), use('twice')),
          from('Alice', 'wait'),
          from('Cinnabar', result('a:b/c')),
          from('Cinnabar', use('twice')),
          from('Cinnabar', result('twice')),
          from('Cinnabar', result('never called')),
          from('Cinnabar', 'I end.'),
          from('Cinnabar', ''),
        ]),
      );
      expect(textOf(completion)).to.equal('ok');
      expect(JSON.stringify(harness.api.requests[0]?.body)).to.include('no result recorded');
    });

    it('reports arguments that are no JSON, or no object, as malformed, beside calls that are well', async () => {
      await using harness = await openRoute(route, {
        steps: [
          callTools([
            { name: 'roll_dice', raw: '{"sides": 20' },
            { name: 'roll_dice', raw: '[6]' },
            { name: 'roll_dice', raw: '"six"' },
            { name: 'roll_dice', raw: '{"sides":6}' },
          ]),
        ],
      });
      const completion = await harness.llm.complete(ask([from('Alice', 'roll')], { tools: [DICE] }));
      expect(completion.content.map((block) => block.type)).to.deep.equal([
        'malformed_tool_use',
        'malformed_tool_use',
        'malformed_tool_use',
        'tool_use',
      ]);
      expect(completion.content[0]).to.include({ name: 'roll_dice', raw: '{"sides": 20' });
      expect(completion.content[0])
        .to.have.property('reason')
        .that.matches(/not (JSON|a JSON object)/);
    });

    it('takes missing arguments for none', async () => {
      await using harness = await openRoute(route, { steps: [callToolRaw('roll_dice', ''), callTool('roll_dice')] });
      for (const _ of [1, 2]) {
        const { content } = await harness.llm.complete(ask([from('Alice', 'roll')], { tools: [DICE] }));
        expect(content[0]).to.deep.include({ type: 'tool_use', input: {} });
      }
    });

    it('drops reasoning, and its own name in front of the answer', async () => {
      await using harness = await openRoute(route, { steps: [say('Cinnabar: Sure.', { thinking: 'Should I?' })] });
      const completion = await harness.llm.complete(HELLO);
      expect(completion.content).to.deep.equal([{ type: 'text', text: 'Sure.' }]);
    });

    it('tells apart an answer that was cut off, and one that was refused', async () => {
      await using harness = await openRoute(route, {
        steps: [say('and then', { stop: 'max_tokens' }), refuse('I cannot.')],
      });
      expect((await harness.llm.complete(HELLO)).stopReason).to.equal('max_tokens');
      const refused = await harness.llm.complete(HELLO);
      expect(refused.stopReason).to.equal('refusal');
      expect(textOf(refused)).to.equal('I cannot.');
    });

    it('shows images that the provider takes, and says so where it does not', async () => {
      await using harness = await openRoute(route, { script: () => say('ok') });
      const image = (mediaType: string, data = 'aGk=') => ({
        type: 'image' as const,
        source: { type: 'base64' as const, data, mediaType },
      });
      const linked = {
        type: 'image' as const,
        source: { type: 'url' as const, data: 'https://cdn.example/a.png', mediaType: 'image/png' },
      };
      await harness.llm.complete(
        ask([from('Alice', 'look', image('image/jpeg'), linked, image('image/svg+xml'), image('image/png', '<svg>'))]),
      );
      const body = JSON.stringify(harness.api.requests[0]?.body);
      expect(body).to.include('aGk=').and.to.include('https://cdn.example/a.png').and.not.to.include('<svg>');
      expect(body).to.include('image/svg+xml is not supported').and.to.include('its data is damaged');

      harness.set({ images: false });
      await harness.llm.complete(ask([from('Alice', image('image/jpeg'))]));
      expect(harness.api.requests[1]?.prompt.text).to.equal(
        'Alice: [an image that you cannot see: this model takes no images]',
      );
    });

    for (const [form, schema] of [
      ['of fixed keys', z.object({ winner: z.string(), loot: z.array(z.string()) })],
      [
        'with optional and free keys',
        z.object({ winner: z.string().min(1), loot: z.record(z.string(), z.number()).optional() }),
      ],
    ] as const) {
      it(`gives structured output ${form}, and refuses what does not fit`, async () => {
        const output = { name: 'ruling', schema };
        const right = { winner: 'V', loot: form === 'of fixed keys' ? ['gun'] : { gun: 1 } };
        const reply = (value: object) => (prompt: { readonly tools: readonly string[] }) =>
          prompt.tools.includes('ruling') ? callTool('ruling', { ...value }) : say(JSON.stringify(value));
        const answers = [reply(right), reply({ winner: 3 })];
        await using harness = await openRoute(route, { script: (prompt) => answers.shift()?.(prompt) ?? say('') });
        const completion = await harness.llm.complete(ask([from('Alice', 'who?')], { output }));
        expect(completion.structured).to.deep.equal(right);
        expect(completion.stopReason).to.equal('end_turn');
        const error = await failure('CINNABAR_LLM_MALFORMED', () =>
          harness.llm.complete(ask([from('Alice', 'who?')], { output })),
        );
        expect(error.message).to.include('winner');
      });
    }

    it('asks a model that refuses temperature without it, and remembers', async () => {
      await using harness = await openRoute(route, { refusesSampling: true, script: () => say('ok') });
      const warm = ask([from('Alice', 'Hello')], { temperature: 0.6 });
      expect(textOf(await harness.llm.complete(warm))).to.equal('ok');
      expect(textOf(await harness.llm.complete(warm))).to.equal('ok');
      const sent = harness.api.requests.map(({ body }) => JSON.stringify(body).includes('temperature'));
      expect(sent).to.deep.equal([true, false, false]);
    });

    it('omits only the parameter that the model refuses, and logs it', async () => {
      await using harness = await openRoute(route, { refusesSampling: true, script: () => say('ok') });
      const completion = await harness.llm.complete(ask([from('Alice', 'Hello')], { temperature: 0.6 }));
      expect(completion.omitted).to.deep.equal(['temperature 0.6']);
    });

    it('keeps one parameter when the model refuses the other', async () => {
      const refusal = fail(400, { message: 'temperature is deprecated for this model' });
      await using harness = await openRoute(route, { steps: [refusal, say('ok')] });
      const request = ask([from('Alice', 'Hello')], { temperature: 0.6, topP: 0.9 });
      const completion = await harness.llm.complete(request);
      expect(completion.omitted).to.deep.equal(['temperature 0.6']);
      const [first = '', second = ''] = harness.api.requests.map(({ body }) => JSON.stringify(body));
      expect([first.includes('0.6'), second.includes('0.6'), second.includes('0.9')]).to.deep.equal([
        true,
        false,
        true,
      ]);
    });

    it('answers a temperature out of range with an error that names the range, and sends nothing', async () => {
      await using harness = await openRoute(route, { script: () => say('ok') });
      const most = route.provider === 'anthropic' || route.provider === 'bedrock' ? 1 : 2;
      const { params } = await failure('CINNABAR_LLM_REFUSED', () =>
        harness.llm.complete(ask([from('Alice', 'Hello')], { temperature: most + 0.5 })),
      );
      expect(params.detail)
        .to.include(`the temperature ${most + 0.5} is out of range`)
        .and.to.include(`0 to ${most}`);
      expect(harness.api.requests).to.have.length(0);
    });

    it('lets a changed setting hold from the next request on', async () => {
      await using harness = await openRoute(route, { script: () => say('ok'), settings: { temperature: 0.6 } });
      await harness.llm.complete(HELLO);
      harness.set({ model: 'newer', temperature: 0.1 });
      await harness.llm.complete(HELLO);
      expect(harness.api.requests.map(({ prompt }) => prompt.model)).to.deep.equal(['stand-in', 'newer']);
      expect(JSON.stringify(harness.api.requests[1]?.body)).to.include('"temperature":0.1');
    });
  });
}

describe('llm: structured output', () => {
  const whole = ROUTES.find(({ route }) => route.endsWith('whole'));
  it('is read from a fence in time that is in proportion', async () => {
    if (whole === undefined) throw new Error('no route gives whole answers');
    const output = { name: 'ruling', schema: z.object({ winner: z.string() }) };
    // A pattern that allows white space at any place took seconds.
    const hostile = `\`\`\`${'\n'.repeat(100_000)}x`;
    await using harness = await openRoute(whole, { script: () => say(hostile) });
    const answer = () =>
      failure('CINNABAR_LLM_MALFORMED', () => harness.llm.complete(ask([from('Alice', 'who?')], { output })));
    expect(await cpuMsOf(answer)).to.be.below(2_000);
  });
});
