<lexicon version="1.0" xmlns="http://www.w3.org/2005/01/pronunciation-lexicon" alphabet="ipa" xml:lang="en-GB">
<lexeme><grapheme>quay</grapheme><grapheme>Quay</grapheme><phoneme>kiː</phoneme></lexeme>
<lexeme role="verb"><grapheme>quay</grapheme><phoneme>kweɪ</phoneme></lexeme>
<lexeme><grapheme>RNLI</grapheme><alias>the lifeboats</alias></lexeme>
<lexeme><grapheme>boat</grapheme><phoneme alphabet="x-sampa">b@Ut</phoneme></lexeme>
</lexicon>
