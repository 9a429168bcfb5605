import { textMessages } from '@cinnabar/sdk';
import { expect } from 'chai';

describe('a text for Discord', () => {
  const around = { head: '❓ <@1> ', foot: '\n-# step 1 · task abcde' };
  const file = ({ files = [] }: ReturnType<typeof textMessages>[number] = { content: '' }) =>
    files.map(({ attachment }) => attachment.toString());

  it('has its head in the first message and its foot in the last', () => {
    const contents = textMessages('word '.repeat(700).trim(), around).map(({ content }) => content);
    expect(contents).to.have.length(2);
    expect(contents[0]).to.match(/^❓ <@1> word/);
    expect(contents[1]).to.match(/word\n-# step 1 · task abcde$/);
  });

  it('keeps head and foot in the message when it becomes a file', () => {
    for (const limits of [
      { messages: 8, characters: 3_000 },
      { messages: 1, characters: 12_000 },
    ]) {
      const text = 'word '.repeat(700);
      const [message, ...others] = textMessages(text, { ...around, limits });
      expect(others).to.deep.equal([]);
      expect(message?.content).to.equal(
        '❓ <@1> This is too long for messages (3,500 characters): all of it is in the file.\n-# step 1 · task abcde',
      );
      expect(file(message)).to.deep.equal([text]);
    }
  });
});
