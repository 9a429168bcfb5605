import { type ChargedRequest, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { ask, DICE, from } from './harness.js';
import { openOffline, readingOf } from './offline-model.js';

const GREET = {
  name: 'greet',
  description: 'Greets somebody. At length.',
  inputSchema: { type: 'object', properties: { full_name: { type: 'string' } } },
  examples: ['say hello to {full_name}', 'greet {full_name}', 'welcome {full_name}'],
};

describe('llm offline: answers', () => {
  let model: Awaited<ReturnType<typeof openOffline>>;
  before(async () => {
    model = await openOffline();
  });
  after(() => model[Symbol.asyncDispose]());
  const reply = (request: ChargedRequest) => model.llm.complete(request);
  const words = async (request: ChargedRequest) => {
    const answer = await reply(request);
    const { calls, text } = readingOf(answer);
    expect([answer.stopReason, calls]).to.deep.equal(['end_turn', []]);
    return text;
  };

  it('calls the tool whose example was said last', async () => {
    const { content, stopReason } = await reply(
      ask([from('Alice', 'greet Bob'), from('Bob', 'roll 2 dice with 6 sides'), from('Cinnabar', '')], {
        tools: [DICE, GREET],
      }),
    );
    expect(stopReason).to.equal('tool_use');
    expect(content).to.have.length(1);
    expect(content[0]).to.deep.include({ type: 'tool_use', name: 'roll_dice', input: { sides: 6, times: 2 } });
    expect(content[0])
      .to.have.property('id')
      .that.matches(/^offline_./);
  });

  it('says what it is and what it understands, without braces', async () => {
    const text = await words(ask([from('Alice', 'What is love?')], { tools: [DICE, GREET] }));
    expect(text).to.include('offline model').and.to.include('- roll TIMES dice with SIDES sides');
    expect(text).to.include('- say hello to FULL NAME');
    expect(text).not.to.match(/[{}]/).and.not.to.include('welcome');
    expect(await words(ask([from('Alice', 'hi')]))).to.include('none that I could act on here');
    expect(await words(ask([]))).to.include('offline model');
  });

  it('repeats the results at the end of the conversation and calls nothing', async () => {
    const use = { type: 'tool_use', id: 'a', name: 'roll_dice', input: {} } as const;
    const result = (content: string) => ({ type: 'tool_result', toolUseId: 'a', content }) as const;
    const text = await words(
      ask(
        [
          from('Alice', 'greet Bob'),
          from('Cinnabar', use),
          from('Cinnabar', result('You rolled 4.'), result('')),
          from('Cinnabar', ''),
        ],
        {
          tools: [GREET],
        },
      ),
    );
    expect(text).to.equal('You rolled 4.');
  });

  it('goes on with what is said after a result', async () => {
    const result = { type: 'tool_result', toolUseId: 'a', content: 'You rolled 4.' } as const;
    const { content } = await reply(ask([from('Cinnabar', result), from('Alice', 'greet Bob')], { tools: [GREET] }));
    expect(content).to.have.nested.property('[0].input.full_name', 'Bob');
  });

  it('asks when two tools fit equally well', async () => {
    const twin = { ...GREET, name: 'wave', description: 'Waves at somebody.' };
    const text = await words(ask([from('Alice', 'greet Bob')], { tools: [GREET, twin] }));
    expect(text)
      .to.include('more than one thing')
      .and.to.include('Greets somebody')
      .and.to.include('Waves at somebody');
  });

  it('does not pretend to give structured output', async () => {
    const output = { name: 'x', schema: z.object({ a: z.string() }) };
    await failure('CINNABAR_LLM_UNSUPPORTED', () => reply(ask([from('Alice', 'hi')], { output })));
  });
});
