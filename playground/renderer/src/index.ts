export { AnsweredAsk, type AnsweredAskProps } from "./asks/answered_ask";
export { AskForm, type AskFormProps } from "./asks/ask_form";
export type { Asked } from "./asks/asked";
export { declaredType, EVERY_FILE, isImage } from "./asks/file_types";
export { Blocks, type BlocksProps } from "./blocks/blocks";
export { InvalidDocument } from "./blocks/invalid";
export { CardView, type CardViewProps } from "./cards/card_view";
export type { AskHost, BlockHost } from "./host";
export { Markdown } from "./text/markdown";
