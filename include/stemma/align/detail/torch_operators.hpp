// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_TORCH_OPERATORS_HPP
#define STEMMA_ALIGN_DETAIL_TORCH_OPERATORS_HPP

#include <stemma/config.hpp>

#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// What exporters make of PyTorch's operators, one group per line: `names = operators that stand
/// for it | operators that come with them | operators that rarely do`.
///
/// `*` stands for any operator. A line that starts with `?` lists operators that often leave
/// nothing in the exported graph, one that starts with `-` those that almost never leave anything.
/// Names are written without underscores and overloads. Activations may also be there as the
/// function that ONNX defines for them, which a runtime inlines if it has no kernel for their type.
inline constexpr std::string_view torch_operators = R"(
linear addmm mm matmul bmm baddbmm mv dot addbmm addmv addr unsafeview = MatMul Gemm Einsum | Add Transpose | Mul Reshape
bilinear tensordot einsum outer chainmatmul multidot = Einsum MatMul Gemm | | Transpose Reshape Add Mul Shape Concat Cast Unsqueeze Squeeze
conv1d conv2d conv3d convolution mkldnnconvolution convtbc slowconv2d thnnconv2d cudnnconvolution = Conv ConvTranspose | | Add Transpose Pad
convtranspose1d convtranspose2d convtranspose3d = ConvTranspose Conv | | Add Slice Pad
?batchnorm nativebatchnorm cudnnbatchnorm batchnormimplindex nativebatchnormlegit nativebatchnormlegitnotraining syncbatchnorm = BatchNormalization | | Mul Add Sub Div Sqrt Reshape Transpose Unsqueeze Squeeze
layernorm nativelayernorm fusedlayernorm = LayerNormalization ReduceMean | Sub Pow Mul Add Sqrt Div | Cast Reciprocal
rmsnorm = RMSNormalization SimplifiedLayerNormalization ReduceMean | Pow Mul Add Sqrt Div Cast Reciprocal
groupnorm nativegroupnorm = GroupNormalization InstanceNormalization | Reshape Shape Mul Add Unsqueeze
instancenorm = InstanceNormalization BatchNormalization | Shape ConstantOfShape Expand Tile Reshape Transpose
localresponsenorm = LRN | Pow Div Mul Add AveragePool Unsqueeze Squeeze Pad
normalize = Div LpNormalization | ReduceL2 Clip Expand Shape Max ReduceSum Pow
weightnorm = Mul | Div ReduceL2 ReduceSum Sqrt Abs Pow
embedding embeddingrenorm = Gather | | Shape Unique Add Div Mul Where Greater ScatterND Unsqueeze
embeddingbag = Gather Loop | Concat Unsqueeze Squeeze Slice Mul ReduceSum ReduceMean ReduceMax Cast Shape
onehot = OneHot | | Cast Concat
relu clampmin = Relu Clip Max | | Cast
relu6 hardtanh clamp clip clampmax threshold = Clip Min Max Relu | | Cast
leakyrelu = LeakyRelu Where | Mul Less
rrelu = PRelu LeakyRelu RandomUniformLike
prelu = PRelu Where | Unsqueeze Mul Less | Squeeze
elu = Elu Where | Less Exp Sub Mul
selu = Selu Where | Less Exp Sub Mul
celu = Celu | | Div Elu Mul
gelu = Gelu Erf Tanh | Mul Add Div | Pow And
silu = Sigmoid Swish | Mul
mish = Softplus Mish | Tanh Mul
glu = Split | Sigmoid Mul
softplus = Softplus | | Mul Div
softshrink = Greater | Where Mul Sub Less Neg Add Cast
hardshrink = Greater | Or Cast Less Neg Where
tanhshrink = Tanh | Sub
hardsigmoid = HardSigmoid | | Add Clip Div Mul
hardswish = HardSwish HardSigmoid | Mul Add Clip Div
sigmoid = Sigmoid
logsigmoid = Log LogSigmoid | Sigmoid | Neg Softplus
tanh = Tanh
sin = Sin
cos = Cos
tan = Tan
asin arcsin = Asin
acos arccos = Acos
atan arctan = Atan
sinh = Sinh
cosh = Cosh
asinh = Asinh
acosh = Acosh
atanh = Atanh
exp expm1 exp2 = Exp Pow | | Sub
log log2 log10 log1p = Log | | Div Add Mul
erf erfc = Erf | | Sub
sqrt = Sqrt
rsqrt = Reciprocal Sqrt Rsqrt | Div
reciprocal = Reciprocal Div | | Cast
abs = Abs
neg negative = Neg
sign sgn = Sign
ceil = Ceil
floor = Floor
round = Round
trunc fix frac = Floor Trunc Cast | Sub
square = Mul Pow
pow floatpower rpow = Pow Mul | Cast
softmax safesoftmax softmin = Softmax | | Transpose Cast Sub ReduceMax Exp ReduceSum Div
logsoftmax = LogSoftmax | | Transpose Cast
gumbelsoftmax = Softmax | Exp Log Neg Add RandomUniformLike
logsumexp = ReduceLogSumExp | Exp Log ReduceSum
maxpool1d maxpool2d maxpool3d maxpool1dwithindices maxpool2dwithindices maxpool3dwithindices = MaxPool | | Mul Sub Unsqueeze Squeeze Flatten Slice
avgpool1d avgpool2d avgpool3d = AveragePool | Pad | Cast
lppool1d lppool2d = LpPool AveragePool | | Pow Mul Relu Sign Abs
adaptiveavgpool1d adaptiveavgpool2d adaptiveavgpool3d = GlobalAveragePool AveragePool ReduceMean
adaptivemaxpool1d adaptivemaxpool2d adaptivemaxpool3d adaptivemaxpool2dwithindices = GlobalMaxPool MaxPool | | Mul Sub
maxunpool1d maxunpool2d maxunpool3d = MaxUnpool
lstm quantizedlstm = LSTM | Transpose Concat Unsqueeze Squeeze Reshape Slice Shape Gather ConstantOfShape Expand
gru = GRU | Transpose Concat Unsqueeze Squeeze Reshape Slice Shape Gather ConstantOfShape Expand
rnntanh rnnrelu rnn = RNN | Transpose Concat Unsqueeze Squeeze Reshape Slice Shape Gather ConstantOfShape Expand
lstmcell = LSTM Gemm MatMul | Add Split Slice Sigmoid Tanh Mul Unsqueeze Squeeze Transpose Concat Reshape
grucell rnntanhcell rnnrelucell = GRU RNN Gemm MatMul | Add Sub Split Slice Sigmoid Tanh Relu Mul Unsqueeze Squeeze Transpose Concat Reshape
multiheadattentionforward multiheadattention nativemultiheadattention = MatMul Gemm Softmax Attention | Add Mul Div Sqrt Transpose Reshape Squeeze Split Unsqueeze Gather Concat Shape Slice Cast Where Expand Equal Not IsNaN | ReduceMean
transformerencoderlayer transformerencoderlayerfwd transformerdecoderlayer transformer transformerencoder transformerdecoder = MatMul Gemm Softmax Attention | Add Mul Div Sqrt Transpose Reshape Squeeze Split Unsqueeze Gather Concat Shape Slice Cast Relu Gelu Erf Where Expand Equal Not IsNaN ReduceMean Sub Pow LayerNormalization
scaleddotproductattention scaleddotproductflashattention scaleddotproductefficientattention scaleddotproductflashattentionforcpu = Softmax MatMul Attention | Mul Div Sqrt Transpose Add Where IsNaN Shape Cast Trilu
attention = Attention Softmax MatMul | Mul Div Sqrt Transpose Add Where Reshape
add radd iadd sum2 = Add SequenceInsert Sum Or | | Mul
sub rsub subtract isub = Sub | | Mul Neg
mul multiply rmul imul = Mul And
div truedivide divide rtruediv truediv idiv itruediv = Div Mul | | Cast Floor Sub Not Equal Less Mod Where And Xor
floordivide floordiv rfloordiv = Div Floor | Floor Cast | Xor Less Mod And Not Equal Sub Where
fmod remainder mod = Mod | Div Cast Floor Xor Sub Mul And Not Equal
addcmul addcdiv = Mul Div | Add
lerp = Sub Mul | Add Where Less Cast
maximum max amax = Max ReduceMax ArgMax TopK | | Cast Squeeze
minimum min amin = Min ReduceMin ArgMin TopK | | Cast Squeeze
aminmax = ReduceMin ReduceMax
eq ne equal = Equal | | Not Cast
gt = Greater | | Cast Not Less
ge = GreaterOrEqual Less Greater | | Not Cast
lt = Less | | Cast Not
le = LessOrEqual Greater Less | | Not Cast
is isnot = Equal Not OptionalHasElement | Cast
logicaland and bitwiseand iand = And BitwiseAnd Mul | | Cast
logicalor or bitwiseor ior = Or BitwiseOr | | Cast
logicalxor xor bitwisexor ixor = Xor BitwiseXor | | Cast
logicalnot not bitwisenot invert = Not BitwiseNot | | Cast
lshift bitwiseleftshift = BitShift Mul | Cast Pow
rshift bitwiserightshift = BitShift Div | Cast Pow
isnan = IsNaN
isinf = IsInf | | Cast
isfinite = IsInf IsNaN Or Not | Cast
nantonum = Where IsNaN IsInf | And Cast Greater Less
where = Where NonZero | | Cast Transpose
maskedfill maskedscatter = Where ScatterND | Cast Transpose NonZero Shape Expand Reshape
maskedselect nonzero nonzeronumpy argwhere = NonZero GatherND Split | Transpose Shape Expand Squeeze
sum = ReduceSum Sum | | Cast
mean = ReduceMean GlobalAveragePool | | Cast
prod = ReduceProd | | Cast
std var stdmean varmean = ReduceMean Sqrt | Shape ReduceProd Gather Sub Mul Cast Div Add ReduceSum
norm frobeniusnorm linalgvectornorm linalgmatrixnorm linalgnorm nuclearnorm = ReduceL2 ReduceL1 ReduceSum ReduceMax ReduceMin | Abs Pow Sqrt Mul Div Cast Reshape Not Equal ArgMax ArgMin
all any = ReduceSum ReduceMin ReduceMax | | Not Cast Greater
argmax = ArgMax | | Reshape Cast
argmin = ArgMin | | Reshape Cast
cumsum = CumSum | | Cast
cumprod = Exp Log Loop
topk = TopK | Reshape Cast
sort argsort msort = TopK | | Shape Gather
unique uniquedim unique2 uniqueconsecutive = Unique
searchsorted bucketize = Less LessOrEqual Greater | ReduceSum Cast Concat Shape Unsqueeze Expand
cosinesimilarity = ReduceSum Div | Mul Max ReduceMax Sqrt Cast ReduceL2 Clip ArgMax
pairwisedistance cdist = Pow ReduceSum | Sub Add Abs Unsqueeze Sqrt
cross linalgcross = Mul Sub | Concat Slice Split
binarycrossentropywithlogits binarycrossentropy mseloss l1loss smoothl1loss huberloss kldiv = Log Sub | Sigmoid Mul Neg Add ReduceMean ReduceSum Exp Pow Abs Where Less Cast Shape ConstantOfShape Greater NonZero Transpose
crossentropyloss nllloss nllloss2d nlllossnd = SoftmaxCrossEntropyLoss NegativeLogLikelihoodLoss | LogSoftmax Squeeze Unsqueeze
det linalgdet logdet = Det | Log
view reshape unsafereshape reshapeas viewas reshapefromtensor unflatten viewascomplex viewasreal reshapealias = Reshape Flatten | Shape Gather Unsqueeze Concat Slice Squeeze Cast Mul Div
flatten = Flatten Reshape | Shape Slice Concat
transpose t permute movedim moveaxis swapaxes swapdims numpyt adjoint h mt mh = Transpose
squeeze = Squeeze | | Shape Gather Equal If Reshape
unsqueeze = Unsqueeze | | Reshape
expand broadcastto expandas broadcasttensors = Expand | Reshape Unsqueeze Concat Shape ConstantOfShape Mul Equal Where Cast
repeat tile repeatinterleave = Tile Expand Loop | Shape ConstantOfShape Reshape Unsqueeze Concat Mul Where Equal Cast Split SplitToSequence Add SequenceAt SequenceEmpty ConcatFromSequence Gather Slice
cat concat concatenate = Concat ConcatFromSequence
stack hstack vstack dstack columnstack = Concat ConcatFromSequence | Unsqueeze Reshape
split splitwithsizes chunk unsafechunk unsafesplit unsafesplitwithsizes tensorsplit hsplit vsplit = Split SplitToSequence Slice | SequenceAt Gather Shape Add Sub Div Unsqueeze Squeeze Concat Mul Mod Tile SequenceEmpty SequenceInsert Loop
unbind = Split SplitToSequence Gather | Squeeze
getitem select narrow diagonal derivegetitem = Slice Gather GatherND | Unsqueeze Squeeze Shape Add Sub Mul Div Cast Concat SequenceAt Reshape Transpose Flatten NonZero Equal Where Expand ReduceSum EyeLike CumSum
?slice = Slice Gather GatherND | Unsqueeze Squeeze Shape Add Sub Mul Div Cast Concat SequenceAt Reshape Transpose Flatten NonZero Equal Where Expand ReduceSum EyeLike CumSum
index indexselect take takealongdim gather = Gather GatherElements GatherND | Reshape Cast Squeeze Unsqueeze Transpose NonZero Shape Flatten Mul Add Concat OneHot ReduceSum Slice
setitem indexput indexputimpl indexcopy indexfill indexadd indexreduce scatter scatteradd scatterreduce selectscatter slicescatter = ScatterND ScatterElements Scatter SequenceInsert | Mul Add NonZero Shape Unsqueeze Reshape Concat ConstantOfShape Cast Transpose Where Equal Expand Range Slice SequenceErase
pad constantpadnd reflectionpad1d reflectionpad2d reflectionpad3d replicationpad1d replicationpad2d replicationpad3d padcircular zeropad2d constantpad2d constantpad1d = Pad Concat | Cast ConcatFromSequence Shape Size Sub Mul ConstantOfShape Reshape Transpose Slice Unsqueeze
roll = Concat | Slice
flip fliplr flipud rot90 = Slice | Transpose
tril triu triltriuindices = Trilu | Where Mul
eye = EyeLike | Unsqueeze Concat ConstantOfShape
unfold im2col asstrided = Gather Concat | Unsqueeze Transpose Reshape Range Shape Add Sub Mul Pad Slice Squeeze Cast Min Loop
fold col2im = Col2Im ScatterND | Reshape Transpose Concat Range
pixelshuffle pixelunshuffle channelshuffle = DepthToSpace SpaceToDepth Reshape | Transpose Unsqueeze Squeeze
interpolate upsample upsamplebicubic2d upsamplebilinear2d upsamplelinear1d upsamplenearest1d upsamplenearest2d upsamplenearest3d upsampletrilinear3d upsamplenearestexact2d = Resize Upsample | Concat Unsqueeze Cast Shape Div Slice Mul Floor Gather
gridsampler gridsampler2d gridsample affinegrid affinegridgenerator = GridSample AffineGrid MatMul
roialign = RoiAlign
nms = NonMaxSuppression | Unsqueeze Gather Squeeze
fakequantizeperchannelaffine fakequantizepertensoraffine fakequantize = QuantizeLinear | DequantizeLinear Cast Clip
quantizepertensor quantizeperchannel = QuantizeLinear | Cast
dequantize = DequantizeLinear | Cast
meshgrid = Expand Reshape | Shape Concat Unsqueeze
?arange range dimarange linspace hannwindow = Range | Cast Unsqueeze Squeeze Shape Gather | Ceil Transpose NonZero ConstantOfShape Sub Add Mul Div Sin
?full zeros ones empty newfull newzeros newones newempty fulllike zeroslike oneslike emptylike fill zero scalartensor newtensor asarray = ConstantOfShape Expand | Shape Cast Concat Unsqueeze Gather | Mul Add
?rand randn randlike randnlike normal uniform bernoulli multinomial randint randintlike randperm sampledirichlet standardgamma = RandomUniformLike RandomNormalLike RandomUniform RandomNormal Multinomial Bernoulli | ConstantOfShape Shape Less Cast Log Mul Add Concat Expand
?dropout nativedropout alphadropout featuredropout featurealphadropout dropout1d dropout2d dropout3d droppath = Dropout | | Cast Mul
?to typeas float double half bfloat16 long int short char byte bool type tocopy castbfloat16 castbool castbyte castchar castcomplexdouble castcomplexfloat castdouble castfloat casthalf castint castlong castshort convertelementtype = Cast
?size shape getattr len numel symsize shapeastensor symnumel = Shape Size | Gather Squeeze Unsqueeze SequenceLength ReduceProd Slice
?tensor astensor list tolist scalar item scalarimplicit localscalardense intimplicit floatimplicit = Cast Concat | Reshape Unsqueeze ConcatFromSequence Squeeze Gather
?append insert pop delete setitemlist = SequenceInsert SequenceErase SequenceConstruct | SequenceAt
?packpaddedsequence padpackedsequence = Transpose | Cast
?rangelength deriveindex = Add Sub Div Mul | Ceil Cast
?forward call recursivescriptmodule scriptmodule topleveltracedmodule tracedmodule = *
?nativemaskedlinear scan cond whileloop = If Loop Scan
-contiguous clone copy detach alias lift liftfresh liftfreshcopy conj conjphysical resolveconj resolveneg identity requiresgrad data cpu cuda dataptr positive = Identity | Cast Transpose
-dim ndim dtype device layout isfloatingpoint ispinned isnested iscomplex isquantized getpoolceilpadding assert asserttensormetadata isspared requiresgradget grad itemsize stride storageoffset iscontiguous isinference names ismeta iscuda = Identity | Shape Size
)";

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_TORCH_OPERATORS_HPP
