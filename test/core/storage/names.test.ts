import { decodeSegment, encodeSegment } from '@cinnabar/core/internal/storage/drivers/file-driver';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { anyCharacter } from '../../support/any-character.js';

const text = fc
  .string({ unit: anyCharacter, minLength: 1, maxLength: 200 })
  .filter((one) => !/\p{Surrogate}/u.test(one));

describe('file names of segments', () => {
  it('give the segment back', () => {
    fc.assert(fc.property(text, (segment) => decodeSegment(encodeSegment(segment)) === segment));
  });

  it('hold nothing but lower case letters, digits, hyphen, underscore and percent, in pieces that any file system takes', () => {
    fc.assert(
      fc.property(text, (segment) => {
        const pieces = encodeSegment(segment);
        for (const [index, piece] of pieces.entries()) {
          expect(piece).to.match(index < pieces.length - 1 ? /^[a-z0-9_%-]+\+$/ : /^[a-z0-9_%-]+$/);
          expect(piece.length).to.be.at.most(103);
          expect(piece).to.not.match(/^(con|prn|aux|nul|com\d|lpt\d)$/);
        }
      }),
    );
  });

  it('differ when the segments differ, on a file system that ignores case as well', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        fc.pre(one !== other);
        expect(encodeSegment(one).join('/').toLowerCase()).to.not.equal(encodeSegment(other).join('/').toLowerCase());
      }),
    );
  });

  it('of others are not decoded', () => {
    for (const name of ['', 'A', 'a b', '%', '%4', '%zz', '%61', '%ff', '%41%', 'é', 'a.b']) {
      expect(decodeSegment([name]), name).to.equal(undefined);
    }
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 3 }), (pieces) => {
        const segment = decodeSegment(pieces);
        expect(segment === undefined ? pieces : encodeSegment(segment)).to.deep.equal(pieces);
      }),
    );
  });
});
