import type { ContentBlock, ModelTool, ParticipantMessage } from '@cinnabar/sdk';

/** What a message costs beside its text: the name, the line break, at times a change of roles. */
const PER_MESSAGE = 4;
const PER_CALL = 12;
/** Providers scale images down to about this many tokens at most. */
const PER_IMAGE = 1_600;

/** Tokens per character, a little more than tokenizers need, so that limits hold. */
const WORDS = 0.28;
const OTHER_ALPHABETS = 0.6;
const IDEOGRAPHS = 1.1;
const SIGNS = 0.5;
const SURROGATES = 1.2;

/** Of each ASCII character: digits and signs take more tokens than letters and the space. */
const ASCII = Float64Array.from({ length: 128 }, (_, code) =>
  /[a-z ]/i.test(String.fromCharCode(code)) ? WORDS : SIGNS,
);

/** A cheap estimate that depends on the script; the same text always gives the same number. */
export function estimateText(text: string): number {
  let tokens = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    tokens += ASCII[code] ?? costOf(code);
  }
  return Math.ceil(tokens);
}

function costOf(code: number): number {
  if (code < 0x0300) return SIGNS;
  if (code < 0x2e80) return OTHER_ALPHABETS;
  return code >= 0xd800 && code <= 0xdfff ? SURROGATES : IDEOGRAPHS;
}

export function estimateMessage({ participant, content }: ParticipantMessage): number {
  return content.reduce((sum, block) => sum + estimateBlock(block), PER_MESSAGE + estimateText(participant));
}

function estimateBlock(block: ContentBlock): number {
  switch (block.type) {
    case 'text':
      return estimateText(block.text);
    case 'image':
      return PER_IMAGE;
    case 'tool_use':
      return PER_CALL + estimateText(block.name) + estimateText(JSON.stringify(block.input));
    case 'tool_result': {
      const { content } = block;
      if (typeof content === 'string') return PER_CALL + estimateText(content);
      return content.reduce((sum, part) => sum + estimateBlock(part), PER_CALL);
    }
  }
}

export function estimateTools(tools: readonly ModelTool[]): number {
  return tools.length === 0 ? 0 : estimateText(JSON.stringify(tools));
}
