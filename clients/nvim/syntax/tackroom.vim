" The list of `:Tackroom`.
if exists('b:current_syntax')
  finish
endif
syntax match TackroomGroup /^\S.*/
syntax match TackroomDim /\%1l.*/
syntax match TackroomWaiting /^  ! waiting\>.*/
syntax match TackroomBusy /^  \* busy\>/
syntax match TackroomCalm /^  - idle\>/
syntax match TackroomCalm /^  \~ \S\+/
syntax match TackroomDim /^  x \S\+/
syntax match TackroomDim /^    persisted\>/
syntax match TackroomDim /^  + .*/
let b:current_syntax = 'tackroom'
