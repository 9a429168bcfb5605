import type { LlmRequest, ParticipantMessage } from '@cinnabar/sdk';
import { expect } from 'chai';
import { from, openRoute, ROUTES } from './harness.js';

const [, , , , ANTHROPIC] = ROUTES;
const MODEL = 'claude-3-5-sonnet-20241022';
const READ_ON = { role: 'user', content: '<cmd>cat untitled.txt</cmd>' };

/** The messages as the provider would receive them, serialised and parsed. */
async function messagesOf(request: Omit<LlmRequest, 'self'>): Promise<unknown> {
  await using harness = await openRoute(ANTHROPIC, { model: MODEL });
  const { body } = await harness.llm.render({ ...request, self: 'Claude' });
  const { messages } = JSON.parse(JSON.stringify(body));
  return messages;
}

const chat = (...messages: ParticipantMessage[]) => messagesOf({ messages });
const prefill = (...messages: ParticipantMessage[]) => messagesOf({ messages, mode: 'prefill' });

/** The transformations in the examples of the design document. */
describe('llm golden transformations', () => {
  describe('of the middleware', () => {
    it('prefill', async () => {
      expect(await prefill(from('Alice', 'Hello'), from('Bob', 'Hi'), from('Claude', ''))).to.deep.equal([
        READ_ON,
        { role: 'assistant', content: 'Alice: Hello\n\nBob: Hi\n\nClaude:' },
      ]);
    });

    it('chat, but for the empty target, which the API refuses and which becomes a note', async () => {
      const messages = [from('Alice', 'Hello'), from('Claude', 'Hi there!'), from('Bob', 'Thanks'), from('Claude', '')];
      expect(await chat(...messages)).to.deep.equal([
        { role: 'user', content: 'Alice: Hello' },
        { role: 'assistant', content: 'Hi there!' },
        { role: 'user', content: 'Bob: Thanks' },
      ]);
    });
  });

  describe('example 1, several people', () => {
    const messages = [
      from('Alice', "Hey Claude, what's the weather?"),
      from('Bob', 'Yeah I want to know too'),
      from('Claude', ''),
    ];

    it('prefill', async () => {
      expect(await prefill(...messages)).to.deep.equal([
        READ_ON,
        {
          role: 'assistant',
          content: "Alice: Hey Claude, what's the weather?\n\nBob: Yeah I want to know too\n\nClaude:",
        },
      ]);
    });

    it('chat', async () => {
      expect(await chat(...messages)).to.deep.equal([
        { role: 'user', content: "Alice: Hey Claude, what's the weather?\nBob: Yeah I want to know too" },
      ]);
    });
  });

  describe('example 2, an image and a cache marker', () => {
    const photo = {
      type: 'image' as const,
      source: { type: 'base64' as const, data: 'aGk=', mediaType: 'image/jpeg' },
    };
    const messages = [
      { ...from('Alice', 'Check out this photo', photo), cacheControl: { type: 'ephemeral' as const } },
      from('Bob', 'Nice!'),
      from('Claude', "That's a beautiful sunset!"),
      from('Alice', 'Can you describe it in detail?'),
      from('Claude', ''),
    ];
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'aGk=' } };

    it('prefill', async () => {
      expect(await prefill(...messages)).to.deep.equal([
        READ_ON,
        {
          role: 'assistant',
          content: [{ type: 'text', text: 'Alice: Check out this photo', cache_control: { type: 'ephemeral' } }, image],
        },
        {
          role: 'assistant',
          content:
            "Bob: Nice!\n\nClaude: That's a beautiful sunset!\n\nAlice: Can you describe it in detail?\n\nClaude:",
        },
      ]);
    });

    it('chat, each message in a block of its own and the marker at the end of its message', async () => {
      expect(await chat(...messages)).to.deep.equal([
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Alice: Check out this photo' },
            { ...image, cache_control: { type: 'ephemeral' } },
            { type: 'text', text: '\nBob: Nice!' },
          ],
        },
        { role: 'assistant', content: "That's a beautiful sunset!" },
        { role: 'user', content: 'Alice: Can you describe it in detail?' },
      ]);
    });
  });

  describe('example 3, a tool', () => {
    const use = { type: 'tool_use' as const, id: 'call_1', name: 'get_time', input: { timezone: 'Asia/Tokyo' } };
    const result = { type: 'tool_result' as const, toolUseId: 'call_1', content: '14:30 JST' };
    const messages = [
      from('Alice', 'What time is it in Tokyo?'),
      from('Claude', use),
      from('Claude', result),
      from('Claude', ''),
    ];
    const tools = [{ name: 'get_time', description: 'Get current time...', inputSchema: { type: 'object' } }];

    it('prefill', async () => {
      expect(await messagesOf({ messages, tools, mode: 'prefill' })).to.deep.equal([
        READ_ON,
        { role: 'user', content: '<tools>\n- get_time: Get current time...\n</tools>' },
        {
          role: 'assistant',
          content: `Alice: What time is it in Tokyo?

Claude>[get_time]: {"timezone": "Asia/Tokyo"}

Claude<[get_time]: 14:30 JST

Claude:`,
        },
      ]);
    });

    it('chat, with the speaker named here as in every other example', async () => {
      expect(await messagesOf({ messages, tools })).to.deep.equal([
        { role: 'user', content: 'Alice: What time is it in Tokyo?' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'call_1', name: 'get_time', input: { timezone: 'Asia/Tokyo' } }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: '14:30 JST' }] },
      ]);
    });
  });
});
