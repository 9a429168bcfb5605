import { deflateSync } from 'node:zlib';

/** A card of the format V2, as written by other programs. */
export const cardV2 = (data: Readonly<Record<string, unknown>> = {}) => ({
  spec: 'chara_card_v2',
  spec_version: '2.0',
  data: {
    name: 'Judy',
    description: '{{char}} is a braindance technician.',
    personality: 'wry, loyal',
    scenario: '{{char}} and {{user}} meet at Lizzie’s.',
    first_mes: 'Hey, {{user}}.',
    mes_example: '<START>\n{{char}}: Sure.',
    creator_notes: 'Have fun.',
    system_prompt: 'Speak like a person.',
    post_history_instructions: 'Keep it short.',
    alternate_greetings: ['What now?'],
    tags: ['cyberpunk'],
    creator: 'alice',
    character_version: '1.1',
    extensions: { 'some/tool': { depth: 4 } },
    character_book: { extensions: {}, entries: [] },
    ...data,
  },
});

export const cardV3 = (data: Readonly<Record<string, unknown>> = {}) => {
  const { data: common } = cardV2();
  return {
    spec: 'chara_card_v3',
    spec_version: '3.0',
    data: {
      ...common,
      nickname: 'Jude',
      group_only_greetings: [],
      source: ['https://example.com/judy'],
      creation_date: 1_700_000_000,
      ...data,
    },
  };
};

export const json = (value: unknown) => Buffer.from(JSON.stringify(value));
export const base64 = (value: unknown) => json(value).toString('base64');

/** A PNG of one pixel with additional chunks before its end. */
export function png(...chunks: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(1, 0);
  header.writeUInt32BE(1, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    ...chunks,
    chunk('IDAT', deflateSync(Buffer.from([0, 255, 0, 0]))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The checksum is arbitrary, because readers of cards ignore it. */
export function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, Buffer.from(type, 'latin1'), data, Buffer.alloc(4)]);
}

export const tEXt = (keyword: string, text: string) => chunk('tEXt', Buffer.from(`${keyword}\0${text}`, 'latin1'));
export const zTXt = (keyword: string, text: Buffer) =>
  chunk('zTXt', Buffer.concat([Buffer.from(`${keyword}\0\0`, 'latin1'), deflateSync(text)]));
export const iTXt = (keyword: string, text: Buffer) =>
  chunk('iTXt', Buffer.concat([Buffer.from(`${keyword}\0\u0001\0en\0\0`, 'latin1'), deflateSync(text)]));
